// Package eval reports the results of a dataset of conversations. It compares a run with an earlier
// one, and two kept runs with one another, and asks a model to grade the answers:
//
//	then, err := eval.Read(text)             // a run that was kept
//	changes, err := eval.Since(then, now)    // what passed then and fails now
//	c, err := eval.Compare(a, b, draw)       // which is better, and how sure that is
//	now.Judge = judge.Grade(ctx, dataset, now)
//
// Conversations are held, and their checks scored, by package dialog.
package eval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/stores/receipt"
	"verbatim/verbs/strict"
)

// Schema names the document that a Run is.
const Schema = "verbatim/eval@1"

// A Run is the result of running a dataset. `verbatim eval --json` prints its JSON, and a run is
// kept by keeping that.
type Run struct {
	Schema string `json:"schema"`
	Setup  Setup  `json:"setup"`
	// Without is the part that the conversations did without: the model, or the phrases.
	Without string `json:"without,omitempty"`
	Cases   []Case `json:"cases"`
	// Categories are those of the cases, in the order of dialog.Categories.
	Categories []Category `json:"categories,omitempty"`
	Passed     int        `json:"passed"`
	Checks     int        `json:"checks"`
	Score      int        `json:"score"` // percent, rounded down
	Threshold  int        `json:"threshold"`
	Tokens     int        `json:"tokens"`
	Cost       float64    `json:"cost,omitempty"`
	Budget     int        `json:"budget"`
	OK         bool       `json:"ok"`
	Since      *Changes   `json:"since,omitempty"`
	Judge      *Grades    `json:"judge,omitempty"`
}

// A Setup is the setup of a run. Digests are SHA-256, in hexadecimal.
type Setup struct {
	Dataset   string `json:"dataset"` // the name of its file
	Digest    string `json:"digest"`  // see Digest
	Program   string `json:"program"`
	Palettes  string `json:"palettes"` // their digest
	Mode      string `json:"mode,omitempty"`
	Model     string `json:"model,omitempty"`
	Host      string `json:"host,omitempty"`      // of its endpoint
	Recording string `json:"recording,omitempty"` // the digest of the recording that answered in its place
	Prompt    string `json:"prompt,omitempty"`    // its version and digest
	Price     string `json:"price,omitempty"`
}

// A Case is the result of one conversation.
type Case struct {
	ID       string           `json:"id"`
	Category string           `json:"category,omitempty"`
	Intent   string           `json:"intent,omitempty"`
	Pass     bool             `json:"pass"`
	Tokens   int              `json:"tokens"`
	Cost     float64          `json:"cost,omitempty"`
	Checks   []dialog.Verdict `json:"checks"`
	Problem  string           `json:"problem,omitempty"` // why it could not be held to the end
	Said     []string         `json:"said"`
	Told     []string         `json:"told"`
}

// A Category is the cases of one kind of ability, added up.
type Category struct {
	Name   string `json:"name"`
	Passed int    `json:"passed"`
	Checks int    `json:"checks"`
	Tokens int    `json:"tokens"`
}

// Digest identifies the messages and checks of a dataset, and the text of its data: not its
// threshold, its budget, its recording or its store.
func Digest(set *dialog.Dataset, data []string) string {
	h := sha256.New()
	put := func(texts ...string) {
		fmt.Fprintln(h, len(texts))
		for _, t := range texts {
			fmt.Fprintln(h, len(t), t)
		}
	}
	put(set.As, set.Now.UTC().Format(time.RFC3339Nano))
	put(data...)
	for i := range set.Cases {
		c := &set.Cases[i]
		put(c.ID)
		put(c.Turns...)
		for j := range c.Checks {
			put(c.Checks[j].Says())
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Sum returns the digest of a text.
func Sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// HostOf returns the host of an address, without its other parts, such as a key.
func HostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Host
}

// Fits returns an error if a kept run is of another dataset than the one of s. An edited dataset is
// still the one of its name.
func (r *Run) Fits(s Setup) error {
	if r.Setup.Digest != s.Digest && r.Setup.Dataset != s.Dataset {
		return fmt.Errorf("it is of another dataset, %q", r.Setup.Dataset)
	}
	return nil
}

// total adds up the cases of a category or, with "", all cases.
func (r *Run) total(category string) (t Total) {
	for i := range r.Cases {
		if c := &r.Cases[i]; category == "" || c.Category == category {
			t.Tokens += c.Tokens
			t.Cost += c.Cost
			t.Checks += len(c.Checks)
			t.Passed += c.passed()
		}
	}
	t.Score = percent(t.Passed, t.Checks)
	return t
}

func (c *Case) passed() (n int) {
	for _, v := range c.Checks {
		if v.Pass {
			n++
		}
	}
	return n
}

func percent(part, of int) float64 { return round(100 * float64(part) / float64(max(1, of))) }

func round(x float64) float64 { return math.Round(100*x)/100 + 0 } // and no -0

// Add adds up the cases. tokens is the cost of all of them.
func (r *Run) Add(tokens int) {
	t := r.total("")
	r.Passed, r.Checks, r.Tokens, r.Cost = t.Passed, t.Checks, tokens, t.Cost
	r.Score = 100 * r.Passed / max(1, r.Checks)
	r.OK = r.Score >= r.Threshold && r.Tokens < r.Budget
	for _, name := range dialog.Categories {
		if t := r.total(name); t.Checks > 0 {
			r.Categories = append(r.Categories, Category{name, t.Passed, t.Checks, t.Tokens})
		}
	}
}

// Read reads a run that was kept.
func Read(text []byte) (*Run, error) {
	var r Run
	dec := json.NewDecoder(bytes.NewReader(text))
	err := dec.Decode(&struct {
		Schema *string `json:"schema"`
	}{&r.Schema})
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it breaks off in the middle")
	case err != nil:
		return nil, errors.New("it is not a JSON object")
	case r.Schema != Schema:
		return nil, fmt.Errorf("its schema is %q, and that of a run is %q", r.Schema, Schema)
	}
	if err := strict.Record(text, &r); err != nil {
		return nil, fmt.Errorf("its fields are not those of a run: %w", err)
	}
	t, seen := r.total(""), map[string]bool{}
	for i := range r.Cases {
		seen[r.Cases[i].ID] = true
	}
	switch {
	case r.Setup.Digest == "":
		return nil, errors.New("it does not say what it was run with: an older version of this program printed it")
	case len(r.Cases) == 0:
		return nil, errors.New("it holds no cases")
	case len(seen) < len(r.Cases):
		return nil, errors.New("two of its cases have one id")
	case t.Checks != r.Checks || t.Passed != r.Passed:
		return nil, fmt.Errorf("it says that %d of %d checks passed, and its cases that %d of %d did", r.Passed, r.Checks, t.Passed, t.Checks)
	}
	return &r, nil
}

// String returns the result of a case, and its failed checks.
func (c *Case) String() string {
	state := "ok  "
	if !c.Pass {
		state = "FAIL"
	}
	text := fmt.Sprintf("%s  %-14s %s, %s tokens\n", state, receipt.Safe(c.ID), receipt.Counted(len(c.Checks), "check"), receipt.Thousands(c.Tokens))
	for _, v := range c.Checks {
		if !v.Pass {
			text += fmt.Sprintf("      expected that it %s; got %s\n", receipt.Safe(v.Check), receipt.Safe(strings.Join(strings.Fields(v.Got), " ")))
		}
	}
	return text
}

// String returns the summary of the cases, which is printed after them.
func (r *Run) String() string {
	var b strings.Builder
	for _, c := range r.Categories {
		fmt.Fprintf(&b, "%-8s %d of %s passed, %s tokens\n", c.Name, c.Passed, receipt.Counted(c.Checks, "check"), receipt.Thousands(c.Tokens))
	}
	fmt.Fprintf(&b, "%d of %s passed, %d %%; %d %% is wanted. %s of %s tokens.\n", r.Passed, receipt.Counted(r.Checks, "check"), r.Score, r.Threshold, receipt.Thousands(r.Tokens), receipt.Thousands(r.Budget))
	if r.Cost > 0 {
		fmt.Fprintf(&b, "It cost %.4f.\n", r.Cost)
	}
	if r.Since != nil {
		b.WriteString(r.Since.String())
	}
	if r.Judge != nil {
		b.WriteString(r.Judge.String())
	}
	return b.String()
}

// A Price is the price of a million input and a million output tokens: 0.15,0.60. It is a flag.
type Price struct{ In, Out float64 }

// Set reads a price.
func (p *Price) Set(text string) (err error) {
	in, out, _ := strings.Cut(text, ",")
	p.In, err = strconv.ParseFloat(strings.TrimSpace(in), 64)
	if err == nil {
		p.Out, err = strconv.ParseFloat(strings.TrimSpace(out), 64)
	}
	if err != nil || !(p.In >= 0 && p.Out >= 0 && p.In+p.Out <= math.MaxFloat32) {
		return errors.New("a price is two numbers, of a million tokens read and written, such as 0.15,0.60")
	}
	return nil
}

// String returns the price in the form that is read, and "" if there is none.
func (p *Price) String() string {
	if *p == (Price{}) {
		return ""
	}
	return fmt.Sprintf("%v,%v", p.In, p.Out)
}

// Type names it as a flag.
func (p *Price) Type() string { return "price" }

// Of returns the cost of some tokens.
func (p *Price) Of(in, out int) float64 { return (p.In*float64(in) + p.Out*float64(out)) / 1e6 }

// JUnit writes the verdicts in the format of build servers: a case is a suite, and each of its
// checks a test.
func (r *Run) JUnit(name string) []byte {
	type failure struct {
		Message string `xml:"message,attr"`
	}
	type test struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Failure *failure `xml:"failure,omitempty"`
	}
	type suite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Cases    []test `xml:"testcase"`
	}
	doc := struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []suite  `xml:"testsuite"`
	}{Name: name, Tests: r.Checks, Failures: r.Checks - r.Passed}
	for i := range r.Cases {
		c := &r.Cases[i]
		s := suite{Name: c.ID, Tests: len(c.Checks), Failures: len(c.Checks) - c.passed()}
		for _, v := range c.Checks {
			t := test{Name: v.Check, Class: c.ID}
			if !v.Pass {
				t.Failure = &failure{"got " + v.Got}
			}
			s.Cases = append(s.Cases, t)
		}
		doc.Suites = append(doc.Suites, s)
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil // of strings and numbers
	}
	return append([]byte(xml.Header), append(text, '\n')...)
}
