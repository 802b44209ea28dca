package eval

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/stores/receipt"
)

// A Judge is a model that grades answers. Its grades are advice: no verdict, score or exit code
// depends on them. The judge is first tested on answers of known quality, the examples of the
// dataset, and its grades are reported only if it distinguishes good from bad ones more often than
// by chance.
type Judge struct {
	Model llm.Model
	Name  string
	Host  string // of its endpoint
	// Budget bounds the run; the judge's tokens count in it.
	Budget *llm.Budget
	// Shuffle puts the examples in an order that reveals nothing about them.
	Shuffle func(n int, swap func(i, j int))
}

// Grades are the result of a judge.
type Grades struct {
	Model string `json:"model"`
	Host  string `json:"host"`
	// Pairs is the number of cases with a good and a bad example, and Right that of cases whose good
	// example got the higher grade. Chance is the probability of at least as many by guessing.
	Pairs  int     `json:"pairs"`
	Right  int     `json:"right"`
	Chance float64 `json:"chance"`
	// Calibrated says that Chance is at most 5 %. Otherwise there are no grades, and Why tells the
	// reason; with grades, Why tells why some are missing.
	Calibrated bool    `json:"calibrated"`
	Why        string  `json:"why,omitempty"`
	Grades     []Grade `json:"grades,omitempty"`
	Mean       float64 `json:"mean,omitempty"`
	NoGrade    int     `json:"no_grade"` // replies that were none
	Tokens     int     `json:"tokens"`
}

// A Grade is a judge's grade for the last answer of a case.
type Grade struct {
	Case  string `json:"case"`
	Grade int    `json:"grade"` // from 1, bad, to 5, good
	Why   string `json:"why"`
}

const (
	fewestPairs = 5 // five right of five are likely by guessing in 3 of 100 tries
	mostChance  = 0.05
	longest     = 2000 // tokens of a reply
)

//go:embed judge.txt
var judgePrompt string

var gradeSchema = json.RawMessage(`{"type":"object","properties":{"why":{"type":"string"},"grade":{"type":"integer","enum":[1,2,3,4,5]}},"required":["why","grade"],"additionalProperties":false}`)

// Grade grades the answers of a run. An error of the judge's is told in the grades.
func (j *Judge) Grade(ctx context.Context, set *dialog.Dataset, r *Run) *Grades {
	g := &Grades{Model: j.Name, Host: j.Host}
	budget := j.Budget.Within("judge", 0)
	defer func() { g.Tokens = budget.Spent() }()
	model := llm.Limited(j.Model, budget)
	type example struct {
		of   *dialog.Case
		good bool
	}
	var examples []example
	for i := range set.Cases {
		if c := &set.Cases[i]; c.Good != "" && c.Bad != "" {
			examples = append(examples, example{c, true}, example{c, false})
		}
	}
	if g.Pairs = len(examples) / 2; g.Pairs < fewestPairs {
		g.Why = fmt.Sprintf("%s of the dataset with a good and a bad example, and %d are needed to see whether a judge tells them apart", receipt.Counted(g.Pairs, "case"), fewestPairs)
		return g
	}
	j.Shuffle(len(examples), func(a, b int) { examples[a], examples[b] = examples[b], examples[a] })
	good, bad := map[*dialog.Case]int{}, map[*dialog.Case]int{}
	for _, e := range examples {
		text, of := e.of.Bad, bad
		if e.good {
			text, of = e.of.Good, good
		}
		grade, err := g.ask(ctx, model, e.of, text)
		if err != nil {
			g.Why = "it was not asked about all examples: " + err.Error()
			return g
		}
		of[e.of] = grade.Grade
	}
	for c := range good {
		if bad[c] > 0 && good[c] > bad[c] {
			g.Right++
		}
	}
	chance := guessed(g.Right, g.Pairs)
	if g.Chance, g.Calibrated = math.Round(1e4*chance)/1e4, chance <= mostChance; !g.Calibrated {
		g.Why = fmt.Sprintf("guessing is right as often with a probability of %.2f, and at most %.2f is accepted", chance, mostChance)
		return g
	}
	for i := range set.Cases {
		told := r.Cases[i].Told
		if r.Cases[i].Problem != "" || len(told) == 0 {
			continue
		}
		grade, err := g.ask(ctx, model, &set.Cases[i], told[len(told)-1])
		if err != nil {
			g.Why = "it was not asked about all answers: " + err.Error()
			break
		}
		if grade.Grade > 0 {
			g.Grades = append(g.Grades, grade)
			g.Mean += float64(grade.Grade)
		}
	}
	g.Mean = round(g.Mean / float64(max(1, len(g.Grades))))
	return g
}

// ask gets the grade of one answer. A reply without a grade is counted, and its grade is 0; an
// error is one that would also meet the next question.
func (g *Grades) ask(ctx context.Context, model llm.Model, c *dialog.Case, answer string) (Grade, error) {
	var expected []string
	for i := range c.Checks {
		expected = append(expected, c.Checks[i].Says())
	}
	// In JSON a text cannot end before its closing quotation mark, whatever it holds.
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Said     []string `json:"said"`
		Expected []string `json:"expected"`
		Answer   string   `json:"answer"`
	}{c.Turns, expected, answer})
	if err != nil {
		return Grade{}, err
	}
	reply, err := model.Chat(ctx, llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: judgePrompt}, {Role: llm.User, Text: text.String()}},
		Schema:   gradeSchema, SchemaName: "grade", MaxTokens: longest,
	}, nil)
	var failed *llm.Error
	if errors.As(err, &failed) && slices.Contains([]llm.Kind{llm.Overlong, llm.Cut, llm.Garbled}, failed.Kind) {
		g.NoGrade++
		return Grade{}, nil
	} else if err != nil {
		return Grade{}, err
	}
	out := Grade{Case: c.ID}
	if json.Unmarshal([]byte(reply.Text), &out) != nil || reply.Finish != llm.Stopped || out.Grade < 1 || out.Grade > 5 {
		g.NoGrade++
		return Grade{}, nil
	}
	out.Case, out.Why = c.ID, short(out.Why)
	return out, nil
}

// guessed returns the probability that at least right of n are right if each is right half the time.
func guessed(right, n int) (p float64) {
	log := func(n int) float64 { l, _ := math.Lgamma(float64(n + 1)); return l }
	for k := right; k <= n; k++ {
		p += math.Exp(log(n) - log(k) - log(n-k) - float64(n)*math.Ln2)
	}
	return min(p, 1)
}

// String tells the grades, and first how far they can be believed.
func (g *Grades) String() string {
	var b strings.Builder
	if g.Calibrated || g.Chance > 0 {
		fmt.Fprintf(&b, "The judge %s told the good example from the bad one in %d of %d cases. Its grades are advice: no verdict depends on them.\n", receipt.Safe(g.Model), g.Right, g.Pairs)
	}
	for _, grade := range g.Grades {
		fmt.Fprintf(&b, "grade %d  %-14s %s\n", grade.Grade, receipt.Safe(grade.Case), grade.Why)
	}
	if len(g.Grades) > 0 {
		fmt.Fprintf(&b, "On average %.1f of 5 in %s.\n", g.Mean, receipt.Counted(len(g.Grades), "case"))
	}
	switch {
	case g.Why != "" && !g.Calibrated:
		fmt.Fprintf(&b, "The grades of the judge %s are not told: %s.\n", receipt.Safe(g.Model), short(g.Why))
	case g.Why != "":
		fmt.Fprintf(&b, "Not all grades are here: %s.\n", short(g.Why))
	}
	fmt.Fprintf(&b, "The judge gave %s that %s no grade, and cost %s of the budget.\n", receipt.Counted(g.NoGrade, "reply"), isAre(g.NoGrade), receipt.Counted(g.Tokens, "token"))
	return b.String()
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
