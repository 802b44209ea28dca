package dialog

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores/receipt"
	"verbatim/verbs/strict"
)

// A Dataset has conversations, each with its expected results. It evaluates a change of a prompt,
// of a palette or of a model: deterministically against a recording, and from time to time against
// the model itself.
//
//	as: clara
//	data: [bank.sql, people.sql]
//	recording: asks.jsonl
//	cases:
//	  - id: WHY-1
//	    query: Why do you need Pierre's tax returns?
//	    intent: explain
//	    expected_behavior:
//	      - calls: ["client.get-request-detail :request-id @pierre-dupont-source-of-wealth"]
//	      - told: FCA
//	      - changes: 0
//	    example_good_response: FCA rules ask us to verify how his wealth was built up.
//	    example_bad_response: Let me look into that for you.
type Dataset struct {
	As        string    `yaml:"as"`        // the principal who talks
	Now       time.Time `yaml:"now"`       // the time; by default the clock's
	Data      []string  `yaml:"data"`      // SQL that each case's store is filled with
	Store     string    `yaml:"store"`     // a store that each case gets a copy of, instead of data
	Recording string    `yaml:"recording"` // of a model's answers
	Threshold int       `yaml:"threshold"` // percent of checks that have to pass: 90
	Budget    int       `yaml:"budget"`    // tokens that a run may spend: 50 000
	Cases     []Case    `yaml:"cases"`
}

// A Case is one conversation. The checks of texts examine the last turn, those of calls and changes
// all turns.
type Case struct {
	ID string `yaml:"id"`
	// Category is the ability that the case tests: one of Categories, or "".
	Category string `yaml:"category"`

	Query  string   `yaml:"query"`
	Turns  []string `yaml:"turns"`
	Intent string   `yaml:"intent"`
	Checks []Check  `yaml:"expected_behavior"`
	// Good and Bad are example answers. The checks that look at an answer alone must pass on Good,
	// and one of them must fail on Bad; otherwise the checks cannot tell them apart.
	Good string `yaml:"example_good_response"`
	Bad  string `yaml:"example_bad_response"`
}

// Categories are the kinds of ability: calling the right tools, following the prompt, and
// completing a whole conversation.
var Categories = []string{"tools", "prompt", "workflow"}

// A Check is one expectation. Exactly one of its members is set.
type Check struct {
	Calls   *[]string `yaml:"calls"`    // what was carried out, in order, apart from the context
	Told    string    `yaml:"told"`     // stands in the answer
	ToldAny []string  `yaml:"told_any"` // one of them does
	NotTold string    `yaml:"not_told"` // does not stand in it
	// Row is a row that an answer of the last turn returns, by column: a text that the value
	// contains, one of several texts, or a number with a tolerance, 41.3±0.1. NoRow must not be
	// returned.
	Row          row  `yaml:"row"`
	NoRow        row  `yaml:"no_row"`
	Asks         *int `yaml:"asks"`           // questions that wait for a yes, at the end
	Changes      *int `yaml:"changes"`        // rows that were changed, in all
	SingleAnswer bool `yaml:"single_answer"`  // two sentences at most
	Clarifies    bool `yaml:"clarifies"`      // it asks, and nothing was called in the last turn
	BorneOut     bool `yaml:"borne_out"`      // nothing that the model said had to be replaced
	Words        int  `yaml:"words"`          // the greatest number of words
	NoRepairs    bool `yaml:"without_repair"` // the model was never told of a mistake
}

// Says describes the check.
func (c *Check) Says() string {
	switch {
	case c.Calls != nil && len(*c.Calls) == 0:
		return "calls nothing"
	case c.Calls != nil:
		return "calls " + strings.Join(*c.Calls, " and then ")
	case c.Told != "":
		return fmt.Sprintf("tells %q", c.Told)
	case len(c.ToldAny) > 0:
		return fmt.Sprintf("tells one of %q", c.ToldAny)
	case len(c.Row) > 0:
		return "gives back a row of " + c.Row.String()
	case len(c.NoRow) > 0:
		return "gives back no row of " + c.NoRow.String()
	case c.NotTold != "":
		return fmt.Sprintf("does not tell %q", c.NotTold)
	case c.Asks != nil:
		return "asks " + counted(*c.Asks, "question")
	case c.Changes != nil:
		return "changes " + counted(*c.Changes, "row")
	case c.SingleAnswer:
		return "gives a single answer"
	case c.Clarifies:
		return "asks what is meant"
	case c.BorneOut:
		return "says nothing that had to be replaced"
	case c.NoRepairs:
		return "needs no repair"
	}
	return fmt.Sprintf("says it in %d words", c.Words)
}

func (c *Check) set() int {
	n := 0
	for _, is := range []bool{c.Calls != nil, c.Told != "", c.NotTold != "", len(c.ToldAny) > 0, len(c.Row) > 0, len(c.NoRow) > 0, c.Asks != nil, c.Changes != nil, c.SingleAnswer, c.Clarifies, c.BorneOut, c.Words > 0, c.NoRepairs} {
		if is {
			n++
		}
	}
	return n
}

// ofText reports whether the check looks at an answer alone, and whether it holds for a text.
func (c *Check) ofText(text string) (looks, holds bool) {
	switch {
	case c.Told != "":
		return true, strings.Contains(fold(text), fold(c.Told))
	case len(c.ToldAny) > 0:
		return true, slices.ContainsFunc(c.ToldAny, func(s string) bool { return strings.Contains(fold(text), fold(s)) })
	case c.NotTold != "":
		return true, !strings.Contains(fold(text), fold(c.NotTold))
	case c.SingleAnswer:
		return true, len(sentences().FindAllString(text, -1)) <= 2 && strings.TrimSpace(text) != ""
	case c.Words > 0:
		return true, len(strings.Fields(text)) <= c.Words
	}
	return false, false
}

var sentences = lazily(as(`[^.!?\n]*[\pL\d)][.!?](\s|$)|[^.!?\n]*\pL[^.!?\n]*$`))

// ReadDataset reads a dataset. It refuses unknown keys, and cases whose checks cannot tell the good
// example from the bad one.
func ReadDataset(r io.Reader) (*Dataset, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Threshold: 90, Budget: 50_000}
	if err := strict.YAML(text, d); err != nil {
		return nil, err
	}
	switch {
	case d.As == "":
		return nil, errors.New("it does not say who talks: as")
	case len(d.Cases) == 0:
		return nil, errors.New("it holds no cases")
	case d.Threshold < 1 || d.Threshold > 100:
		return nil, errors.New("threshold is a percentage, from 1 to 100")
	case d.Budget < 1:
		return nil, errors.New("budget is a number of tokens above 0")
	}
	seen := map[string]bool{}
	for i := range d.Cases {
		if err := d.Cases[i].fit(i, seen); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (c *Case) fit(i int, seen map[string]bool) error {
	name := c.ID
	if name == "" {
		return fmt.Errorf("case %d has no id", i+1)
	}
	if seen[c.ID] {
		return fmt.Errorf("two cases are called %s", c.ID)
	}
	seen[c.ID] = true
	switch {
	case c.Category != "" && !slices.Contains(Categories, c.Category):
		return fmt.Errorf("case %s: its category is one of %s", name, strings.Join(Categories, ", "))
	case (c.Query == "") == (len(c.Turns) == 0):
		return fmt.Errorf("case %s has a query or turns, one of them", name)
	case len(c.Checks) == 0:
		return fmt.Errorf("case %s expects nothing", name)
	}
	if c.Query != "" {
		c.Turns = []string{c.Query}
	}
	for j := range c.Checks {
		check := &c.Checks[j]
		if check.set() != 1 {
			return fmt.Errorf("case %s: expectation %d says one thing, and not %d", name, j+1, check.set())
		}
		if check.Calls != nil {
			for k, call := range *check.Calls {
				script, ds := dsl.Parse(dsl.NewSource(name, call))
				if ds.HasErrors() || len(script.Calls) != 1 {
					return fmt.Errorf("case %s: %q is not one call", name, call)
				}
				(*check.Calls)[k] = dsl.FormatCall(&script.Calls[0])
			}
		}
	}
	passes := func(text string) (all, any bool) {
		all = true
		for j := range c.Checks {
			if looks, holds := c.Checks[j].ofText(text); looks {
				all, any = all && holds, true
			}
		}
		return all, any
	}
	if good, any := passes(c.Good); c.Good != "" && any && !good {
		return fmt.Errorf("case %s: its own good example does not pass", name)
	}
	if bad, any := passes(c.Bad); c.Bad != "" && any && bad {
		return fmt.Errorf("case %s: its bad example passes too", name)
	}
	return nil
}

// A Verdict is the outcome of a check.
type Verdict struct {
	Check string `json:"check"`
	Pass  bool   `json:"pass"`
	Got   string `json:"got,omitempty"` // where it did not pass
}

// Score checks a conversation against a case.
func (c *Case) Score(answers []*Answer) []Verdict {
	last := answers[len(answers)-1]
	var called []string
	changes, repairs, replaced := 0, 0, 0
	for _, a := range answers {
		for _, call := range a.Turn.Calls {
			called = append(called, unsuffixed(call.Call))
		}
		for _, p := range a.Done {
			changes += p.Totals().Rows
		}
		repairs += a.Turn.Model.Repairs
		replaced += len(a.Turn.Replaced)
	}
	given := rowsOf(last.Found)
	var all []Verdict
	for i := range c.Checks {
		check := &c.Checks[i]
		v := Verdict{Check: check.Says()}
		if looks, holds := check.ofText(last.Text); looks {
			v.Pass, v.Got = holds, last.Text
		} else {
			switch {
			case check.Calls != nil:
				v.Pass, v.Got = slices.Equal(called, *check.Calls), strings.Join(called, " and then ")
			case check.Asks != nil:
				v.Pass, v.Got = len(last.Open) == *check.Asks, counted(len(last.Open), "question")
			case check.Changes != nil:
				v.Pass, v.Got = changes == *check.Changes, counted(changes, "row")
			case len(check.Row) > 0:
				v.Pass, v.Got = slices.ContainsFunc(given, check.Row.fits), last.Text
			case len(check.NoRow) > 0:
				v.Pass, v.Got = !slices.ContainsFunc(given, check.NoRow.fits), last.Text
			case check.Clarifies:
				v.Pass, v.Got = strings.Contains(last.Text, "?") && len(last.Turn.Calls) == 0, last.Text
			case check.BorneOut:
				v.Pass, v.Got = replaced == 0, counted(replaced, "claim")
			case check.NoRepairs:
				v.Pass, v.Got = repairs == 0, counted(repairs, "repair")
			}
		}
		if v.Pass {
			v.Got = ""
		}
		all = append(all, v)
	}
	return all
}

// unsuffixed replaces names with suffixes by plain names: a case is written for any store, and
// suffixes differ between stores.
func unsuffixed(call string) string {
	script, ds := dsl.Parse(dsl.NewSource("call", call))
	if ds.HasErrors() || len(script.Calls) != 1 {
		return call
	}
	return dsl.FormatCall(dsl.Replace(&script.Calls[0], func(_ *dsl.Call, _ string, v *dsl.Value) (dsl.Value, bool) {
		name, rest, has := strings.Cut(v.Text, "~")
		if v.Kind != dsl.Symbol || !has {
			return dsl.Value{}, false
		}
		if _, path, ok := strings.Cut(rest, "."); ok {
			name += "." + path
		}
		return dsl.NewSymbol(name), true
	}))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A row is an expected row, by column.
type row map[string]oneOf

// oneOf lists texts of which one must match.
type oneOf []string

// UnmarshalYAML reads one text, or a list.
func (o *oneOf) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*o = oneOf{n.Value}
		return nil
	}
	return n.Decode((*[]string)(o))
}

// String writes the row in the order of its columns.
func (r row) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		all = append(all, name+" "+strings.Join(r[name], " or "))
	}
	return strings.Join(all, ", ")
}

// fits reports whether a returned row matches.
func (r row) fits(given map[string]string) bool {
	for name, want := range r {
		if !slices.ContainsFunc(want, func(s string) bool { return fitsValue(given[name], s) }) {
			return false
		}
	}
	return true
}

func fitsValue(given, want string) bool {
	near, by, ranged := strings.Cut(want, "±")
	x, isNumber := new(big.Rat).SetString(given)
	y, ok := new(big.Rat).SetString(near)
	if !isNumber || !ok {
		plain := strings.NewReplacer("'", "", "\"", "")
		return strings.Contains(fold(plain.Replace(given)), fold(plain.Replace(want)))
	}
	off := new(big.Rat)
	if ranged {
		if off, ok = off.SetString(by); !ok {
			return false
		}
	}
	return x.Sub(x, y).Abs(x).Cmp(off) <= 0
}

// rowsOf returns the rows that calls returned, by column.
func rowsOf(done []*receipt.Receipt) (all []map[string]string) {
	for _, d := range done {
		for _, c := range d.Calls {
			if c.Result == nil {
				continue
			}
			for _, r := range c.Result.Rows {
				one := map[string]string{}
				for j, v := range r {
					one[c.Result.Columns[j]] = v.Text()
				}
				all = append(all, one)
			}
		}
	}
	return all
}
