package confidence

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/internal/digest"
)

// A shape is a question without the names in it: questions of one shape have one plan.
type shape struct {
	text  string // with {1}, {2} … in place of the names
	names []string
}

func shapeOf(question string) shape {
	s := shape{text: strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(question)), " "), "?!. ")}
	names := values.NamesIn(question)
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) }) // one name may be a part of another
	for _, name := range names {
		low := strings.ToLower(name)
		if slices.Contains(s.names, name) || !strings.Contains(s.text, low) {
			continue
		}
		s.names = append(s.names, name)
		s.text = strings.ReplaceAll(s.text, low, fmt.Sprintf("{%d}", len(s.names)))
	}
	return s
}

// empty returns a plan with places for the names that are the whole of a text. It returns "" if the
// plan is valid for this question alone: if a name of it is not the whole of a text, or occurs in another
// way too, or if a text has a name or a number that the question does not have, which may stand for one.
func (s shape) empty(plan string) string {
	for i, name := range s.names {
		whole, place := dsl.FormatValue(dsl.NewString(name)), fmt.Sprintf("\x00%d\x00", i+1)
		plan = strings.ReplaceAll(plan, whole, place)
		if !strings.Contains(plan, place) || strings.Contains(strings.ToLower(plan), strings.ToLower(name)) {
			return ""
		}
	}
	if len(s.names) > 0 && slices.ContainsFunc(writtenText().FindAllString(plan, -1), func(text string) bool { return values.Adds(text[1:len(text)-1], s.text) }) {
		return ""
	}
	return plan
}

var writtenText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// namesRows reports whether calls name rows other than the results of earlier calls: a name in a
// question may stand for such a row, and then the calls fit no other name.
func namesRows(calls []dsl.Call) (does bool) {
	given := map[string]bool{}
	for i := range calls {
		given[calls[i].As] = true
	}
	for i := range calls {
		dsl.WalkCall(&calls[i], func(at dsl.Node) bool {
			if v := at.Value; v != nil && (v.Kind == dsl.UUID || v.Kind == dsl.Symbol) {
				name, _, _ := strings.Cut(v.Text, ".")
				does = does || v.Kind == dsl.UUID || !given[name]
			}
			return !does
		})
	}
	return does
}

// fill returns a plan with the names of this question.
func (s shape) fill(plan string) string {
	for i, name := range s.names {
		plan = strings.ReplaceAll(plan, fmt.Sprintf("\x00%d\x00", i+1), dsl.FormatValue(dsl.NewString(name)))
	}
	return plan
}

// key identifies a kept plan: by the shape of the question, the palettes, the asker and the
// asker's roles, so that nobody gets the plan of somebody else.
func (a *Agent) key(s *engine.Session, of shape) string {
	rights := []string{"verbatim plan 1", a.Runner.Clerk.Registry.Digest(), s.Principal().Name, fmt.Sprint(len(of.names)), of.text}
	for _, r := range s.Roles() {
		rights = append(rights, r.Name)
	}
	return digest.Of(rights...)
}
