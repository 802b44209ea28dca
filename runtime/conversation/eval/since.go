package eval

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"verbatim/runtime/conversation/dialog"
	"verbatim/stores/receipt"
)

// Changes are the differences of a run to an earlier one.
type Changes struct {
	Then    Total        `json:"then"`
	Now     Total        `json:"now"`
	Differs []Difference `json:"differs,omitempty"`
	// Edited says that the dataset says or expects something else than then. What it
	// still has is compared.
	Edited    bool    `json:"edited,omitempty"`
	Regressed []Check `json:"regressed"` // passed then, and fail now
	Mended    []Check `json:"mended"`    // failed then, and pass now
	OnlyThen  []Check `json:"only_then,omitempty"`
	OnlyNow   []Check `json:"only_now,omitempty"`
}

// A Total is the totals of a run.
type Total struct {
	Passed int     `json:"passed"`
	Checks int     `json:"checks"`
	Score  float64 `json:"score"` // percent
	Tokens int     `json:"tokens"`
	Cost   float64 `json:"cost,omitempty"`
}

// A Check names a check of a case or, without one, the case.
type Check struct {
	Case  string `json:"case"`
	Check string `json:"check,omitempty"`
	Got   string `json:"got,omitempty"` // if it fails
}

// A Difference is something that two runs were not made with alike.
type Difference struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// differences lists what two runs were not made with alike.
func differences(a, b *Run) (all []Difference) {
	for _, d := range []Difference{
		{"model", a.Setup.Model, b.Setup.Model}, {"host", a.Setup.Host, b.Setup.Host}, {"recording", a.Setup.Recording, b.Setup.Recording},
		{"mode", a.Setup.Mode, b.Setup.Mode}, {"prompt", a.Setup.Prompt, b.Setup.Prompt}, {"palettes", a.Setup.Palettes, b.Setup.Palettes},
		{"without", a.Without, b.Without}, {"program", a.Setup.Program, b.Setup.Program}, {"price", a.Setup.Price, b.Setup.Price},
	} {
		if d.A != d.B {
			all = append(all, d)
		}
	}
	return all
}

// A place identifies a verdict in any run of a dataset. A case with other messages is another case.
// For a case, check is empty and nth is 0.
type place struct {
	id, said, check string
	nth             int // among the equal checks of a case
}

// places returns the cases of a run and their checks, in order.
func (r *Run) places() (all []place, verdicts map[place]dialog.Verdict) {
	verdicts = map[place]dialog.Verdict{}
	for i := range r.Cases {
		c := &r.Cases[i]
		at := place{id: c.ID, said: strings.Join(c.Said, "\x00")}
		all, verdicts[at] = append(all, at), dialog.Verdict{}
		for _, v := range c.Checks {
			at.check, at.nth = v.Check, 1
			for _, has := verdicts[at]; has; _, has = verdicts[at] {
				at.nth++
			}
			all, verdicts[at] = append(all, at), v
		}
	}
	return all, verdicts
}

// Since says what changed since a run that was kept, which Fits.
func Since(then, now *Run) (*Changes, error) {
	c := &Changes{Then: then.total(""), Now: now.total(""), Differs: differences(then, now),
		Edited: then.Setup.Digest != now.Setup.Digest, Regressed: []Check{}, Mended: []Check{}}
	before, was := then.places()
	after, is := now.places()
	common := 0
	for _, at := range after {
		v, w := is[at], was[at]
		if _, both := was[at]; !both || at.nth == 0 {
			continue
		}
		common++
		switch {
		case w.Pass && !v.Pass:
			c.Regressed = append(c.Regressed, Check{at.id, at.check, v.Got})
		case !w.Pass && v.Pass:
			c.Mended = append(c.Mended, Check{at.id, at.check, ""})
		}
	}
	if common == 0 {
		return nil, errors.New("no check of it is in this dataset")
	}
	c.OnlyThen, c.OnlyNow = missing(before, is), missing(after, was)
	return c, nil
}

// missing lists the places that another run does not have: a whole case, or checks of it.
func missing(all []place, other map[place]dialog.Verdict) (out []Check) {
	for _, at := range all {
		_, has := other[at]
		_, hasCase := other[place{id: at.id, said: at.said}]
		if !has && (hasCase || at.nth == 0) {
			out = append(out, Check{Case: at.id, Check: at.check})
		}
	}
	return out
}

// String tells the changes, a line each.
func (c *Changes) String() string {
	var b strings.Builder
	if c.Edited {
		b.WriteString("The dataset was edited since: what it still has is compared.\n")
	}
	tellDifferences(&b, c.Differs, "then", "now")
	for _, list := range []struct {
		as  string
		all []Check
	}{{"WORSE ", c.Regressed}, {"better", c.Mended}, {"gone  ", c.OnlyThen}, {"new   ", c.OnlyNow}} {
		for _, at := range list.all {
			fmt.Fprintf(&b, "%s  %-14s %s", list.as, receipt.Safe(at.Case), receipt.Safe(at.Check))
			if at.Got != "" {
				fmt.Fprintf(&b, "; got %s", short(at.Got))
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "then   %s\nnow    %s\n", c.Then, c.Now)
	if n := len(c.Regressed); n > 0 {
		fmt.Fprintf(&b, "%s passed then and not now.\n", receipt.Counted(n, "check"))
	} else {
		b.WriteString("Nothing that passed then fails now.\n")
	}
	return b.String()
}

func tellDifferences(b *strings.Builder, all []Difference, first, second string) {
	or := func(s string) string {
		words := strings.Fields(s)
		for i, w := range words {
			if len(w) == 64 { // a digest; twelve digits identify it
				words[i] = w[:12]
			}
		}
		return receipt.Safe(cmp.Or(strings.Join(words, " "), "none"))
	}
	for _, d := range all {
		fmt.Fprintf(b, "%-9s  %s %s, %s %s\n", d.What, first, or(d.A), second, or(d.B))
	}
}

func (t Total) String() string {
	text := fmt.Sprintf("%d of %s, %.2f %%, %s tokens", t.Passed, receipt.Counted(t.Checks, "check"), t.Score, receipt.Thousands(t.Tokens))
	if t.Cost > 0 {
		text += fmt.Sprintf(", cost %.4f", t.Cost)
	}
	return text
}

// short returns text from outside, in one line of bounded length.
func short(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return receipt.Safe(text)
}
