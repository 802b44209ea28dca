package manda

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"verbatim/runtime/files/documents"
	"verbatim/runtime/files/services"
	"verbatim/runtime/protocols/tools"
)

// A Suggestion is a figure that a model claims to have found in a passage.
type Suggestion struct {
	Passage int     `json:"passage"` // the number of the passage
	Text    string  `json:"text"`    // the figure as written there
	Metric  string  `json:"metric"`
	Period  string  `json:"period"`
	Subject *string `json:"subject"`
}

// suggested is the confidence of a finding that a model suggested: too little to tell it without a
// warning.
const suggested = certain - 5

// Standing checks what a model suggests against the passage it names, and makes a finding
// of it. The passage must contain the figure as written, with its unit; the passage, its
// heading or its document must name the period; and one word of the metric's name must stand
// beside it. The value, and whether it is a forecast, are read from the document and never
// taken from the model. It returns false for what fails one of these.
func Standing(s Suggestion, c *services.Chunk, about *About) (Finding, bool) {
	none := Finding{}
	text, written := strings.Join(strings.Fields(c.Text), " "), strings.Join(strings.Fields(s.Text), " ")
	at := strings.Index(text, written)
	if written == "" || at < 0 || utf8.RuneCountInString(s.Metric) > 70 {
		return none, false
	}
	head := orNothing(c.Heading)
	want := periods(s.Period)
	if len(want) != 1 || want[0].Year == 0 {
		return none, false
	}
	named := want[0].Period == about.Period
	times := periods(text)
	for _, p := range append(periods(head), times...) {
		named = named || p.Period == want[0].Period
	}
	i := slices.IndexFunc(cuts(text), func(end int) bool { return at < end })
	from, end := 0, cuts(text)[i]
	if i > 0 {
		from = cuts(text)[i-1]
	}
	sentence := text[from:end]
	name, domain := plainly(s.Metric), "other"
	if m := known(name); m != nil {
		name, domain = m.name, m.domain
	}
	if !named || name == "" || shared(aims(s.Metric, unsaid), ideas(sentence+" "+head+" "+about.Title)) == 0 {
		return none, false
	}
	for _, fig := range figures(text, commas(text), func(at int) bool {
		return slices.ContainsFunc(times, func(p said) bool { return at >= p.at && at < p.end })
	}) {
		if fig.at < at || fig.end > at+len(written)+1 || isYear(&fig) {
			continue
		}
		if m := known(name); fig.Unit == "" && (c.Kind == "table" || m != nil && m.kind != "count" && m.kind != "text" && m.kind != "days") {
			return none, false // no unit stands beside it
		}
		f := Finding{Figure: fig, Metric: name, Domain: domain, Period: want[0].Period, Status: about.Status, Place: c.Place, Confidence: suggested}
		if forecasts.re().MatchString(sentence) {
			f.Status = Forecast
		}
		if s.Subject != nil && strings.Contains(plainly(text+" "+head), plainly(*s.Subject)) {
			f.Subject = plainly(*s.Subject)
		}
		return f, true
	}
	return none, false
}

// What a model is given at once, and how often at most, in letters: some 150 pages.
const (
	atATime   = 12_000
	mostTimes = 40
)

const askedFor = `Name every figure of the company that the passages state: amounts, percentages and counts, with what they are called and the period they are of. For each give the number of its passage, and the figure as it is written there, letter by letter, with its currency or unit. A period is written like FY2024, Q3 2024, H1 2024, 2024-12 or 2024-12-31. The subject is the part of the company that a figure is of, as the passage calls it, or null where it is of all of it. Leave out page numbers, dates, and figures of others.`

var suggestions = json.RawMessage(`{"type":"object","properties":{"findings":{"type":"array","items":{"type":"object","properties":{"passage":{"type":"integer"},"text":{"type":"string"},"metric":{"type":"string"},"period":{"type":"string"},"subject":{"type":["string","null"]}},"required":["passage","text","metric","period","subject"],"additionalProperties":false}}},"required":["findings"],"additionalProperties":false}`)

// suggestion lets a model look for the figures that rules did not find in a document, from a
// passage on, and keeps those that pass Standing.
func suggestion(read services.Read, complete services.Complete) func(context.Context, tools.Call) (tools.Answer, error) {
	return func(ctx context.Context, c tools.Call) (tools.Answer, error) {
		if complete == nil {
			return tools.Answer{Failed: true, Text: "no model is set up here"}, nil
		}
		return services.Asking(read, func(doc *documents.Document, name string, from int) (any, string, error) {
			about, all := Extract(name, doc)
			known := map[[2]string]bool{} // by written figure and period: each is kept once
			for _, f := range all {
				known[[2]string{f.Text, f.Period.String()}] = true
			}
			out := struct {
				Findings []found `json:"findings"`
			}{[]found{}}
			chunks := services.Chunks(doc, 0)
			chunks = chunks[min(max(0, from-1), len(chunks)):]
			for times := 0; len(chunks) > 0 && times < mostTimes; times++ {
				n, text := together(chunks)
				said, why, err := complete(ctx, askedFor, text, suggestions, nil)
				if err != nil || why != "" {
					return nil, why, err
				}
				var is struct{ Findings []Suggestion }
				if json.Unmarshal([]byte(services.Bare(said)), &is) != nil {
					return nil, "what the model answered is not what was asked for", nil
				}
				for _, s := range is.Findings {
					k := s.Passage - chunks[0].Number
					if k < 0 || k >= n || len(out.Findings) == atOnce {
						continue
					}
					f, ok := Standing(s, &chunks[k], &about)
					if key := [2]string{f.Text, f.Period.String()}; ok && !known[key] {
						known[key] = true
						out.Findings = append(out.Findings, f.row(len(all)+len(out.Findings)+1))
					}
				}
				chunks = chunks[n:]
			}
			return out, "", nil
		})(ctx, c)
	}
}

// together returns the first passages, as many as a model gets at once.
func together(chunks []services.Chunk) (n int, text string) {
	var b strings.Builder
	for n < len(chunks) && (n == 0 || b.Len()+len(chunks[n].Text) < atATime) {
		fmt.Fprintf(&b, "[%d] %s\n%s\n\n", chunks[n].Number, orNothing(chunks[n].Heading), chunks[n].Text)
		n++
	}
	return n, b.String()
}

func orNothing(s *string) string { return *cmp.Or(s, new(string)) }
