package dialog

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/llm"
	"verbatim/verbs"
)

// A Turn is what is recorded of one: what was read, matched, resolved, not used,
// and which rule asked. "Why did it propose this" is answered out of it, and not
// by asking the model, which would make something up.
type Turn struct {
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	Said   string    `json:"said"`
	Quoted string    `json:"quoted,omitempty"`
	// Foreign says that they were no words of the person's.
	Foreign bool       `json:"foreign,omitempty"`
	Read    []CallNote `json:"read,omitempty"`   // the context
	Phrase  string     `json:"phrase,omitempty"` // that was matched, where no model was asked
	Calls   []CallNote `json:"calls,omitempty"`  // what was carried out
	// Proposed are the model's answers that held calls, and what came of each.
	Proposed []Proposed `json:"proposed,omitempty"`
	Resolved []Traced   `json:"resolved,omitempty"`
	NotUsed  []string   `json:"notUsed,omitempty"`
	Rules    []string   `json:"rules,omitempty"`
	// Agreed is the question that was agreed to, Withdrawn the calls that were
	// not.
	Agreed    string     `json:"agreed,omitempty"`
	Withdrawn []string   `json:"withdrawn,omitempty"`
	Replaced  []claim    `json:"replaced,omitempty"` // claims of the model's that no fact bore out
	Notes     []string   `json:"notes,omitempty"`
	Journal   [][2]int64 `json:"journal,omitempty"` // first and last entry
	Model     ModelNote  `json:"model"`
	Told      string     `json:"told"`

	spoken  Spoken
	tainted verbs.Origin // what strangers wrote may be told again in it
}

// A CallNote is a call that was carried out.
type CallNote struct {
	Call  string `json:"call"`
	Verb  string `json:"verb"`
	Rows  int    `json:"rows,omitempty"`  // found
	Wrote int    `json:"wrote,omitempty"` // changed
	From  string `json:"from,omitempty"`  // what in its answer is less trusted than a record
}

// Proposed is an answer of the model's.
type Proposed struct {
	Script  string `json:"script,omitempty"`
	Says    string `json:"says,omitempty"` // its own reason, in its words
	Outcome string `json:"outcome"`
}

// ModelNote says what was asked.
type ModelNote struct {
	Name    string `json:"name,omitempty"`
	Prompt  string `json:"prompt"`
	Calls   int    `json:"calls"`
	Repairs int    `json:"repairs,omitempty"`
	In      int    `json:"in"`
	Out     int    `json:"out"`
}

func (r *Turn) note(text string) { r.Notes = append(r.Notes, text) }

func (r *Turn) refused(ds dsl.Diagnostics) {
	for _, d := range ds {
		if text := "refused[" + d.Code + "]: " + d.Summary; !slices.Contains(r.Notes, text) {
			r.note(text)
		}
	}
}

func (r *Turn) heardModel(reply *llm.Reply) {
	r.Model.Name = reply.Model
	r.Model.In += reply.Usage.In
	r.Model.Out += reply.Usage.Out
}

func (t *turn) propose(p proposal, outcome string) {
	r := t.record
	first, _, _ := strings.Cut(outcome, "\n")
	if strings.HasPrefix(first, "None of that was done") {
		_, rest, _ := strings.Cut(outcome, "\n")
		first, _, _ = strings.Cut(rest, "\n")
	}
	r.Proposed = append(r.Proposed, Proposed{Script: cut(t.written(p.script)), Says: cut(p.prose), Outcome: first})
}

// Explain tells how a turn came about, from what was recorded.
func (r *Turn) Explain(w io.Writer) error {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", what, oneLine(fmt.Sprintf(format, args...)))
	}
	line("turn", "%d, %s", r.Number, r.Time.UTC().Format("2006-01-02 15:04:05 UTC"))
	if r.Said != "" {
		line("said", "%q", r.Said)
	}
	if r.Quoted != "" {
		line("quoted", "%q", r.Quoted)
	}
	for _, c := range r.Read {
		line("read", "%s: %s%s", c.Call, counted(c.Rows, "row"), fromWords(c.From))
	}
	if r.Phrase != "" {
		line("matched", "the phrase %q", r.Phrase)
	}
	for _, p := range r.Proposed {
		if p.Script != "" {
			line("proposed", "%s", strings.ReplaceAll(p.Script, "\n", " / "))
			line("", "%s", p.Outcome)
		} else {
			line("proposed", "nothing that can be used: %s", p.Outcome)
		}
		if p.Says != "" {
			line("", "in the model's own words: %q", p.Says)
		}
	}
	for _, t := range r.Resolved {
		switch {
		case t.Words != "":
			line("resolved", "%s from the words %q", t.Text, t.Words)
		default:
			line("resolved", "%s from %s", t.Text, t.Origin.Words())
		}
	}
	for _, c := range r.Calls {
		switch {
		case c.Wrote > 0:
			line("done", "%s: %s changed", c.Call, counted(c.Wrote, "row"))
		default:
			line("done", "%s: %s%s", c.Call, counted(c.Rows, "row"), fromWords(c.From))
		}
	}
	for _, n := range r.NotUsed {
		line("not used", "%s", n)
	}
	for _, rule := range r.Rules {
		line("rule", "%s", rule)
	}
	if r.Agreed != "" {
		line("agreed", "to %s", r.Agreed)
	}
	for _, c := range r.Withdrawn {
		line("declined", "%s", c)
	}
	for _, c := range r.Replaced {
		line("replaced", "the model said %q, a %s that no fact bears out", c.Text, c.Kind)
	}
	for _, n := range r.Notes {
		line("note", "%s", n)
	}
	for _, j := range r.Journal {
		line("journal", "%d to %d", j[0], j[1])
	}
	if m := r.Model; m.Calls > 0 {
		line("model", "%s, prompt %s, asked %s, %d tokens in and %d out", nameOf(m.Name), m.Prompt, times(m.Calls), m.In, m.Out)
	} else {
		line("model", "none was asked")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func nameOf(model string) string {
	if model == "" {
		return "a model that gave no name"
	}
	return model
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func fromWords(origin string) string {
	if origin == "" {
		return ""
	}
	return ", in part from " + origin
}
