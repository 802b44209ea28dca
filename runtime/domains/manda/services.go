package manda

import (
	"context"
	"encoding/json"
	"math/big"
	"sync/atomic"
	"time"

	"verbatim/runtime/files/documents"
	"verbatim/runtime/files/services"
	"verbatim/runtime/protocols/tools"
)

// atOnce is the greatest number of findings in one answer, which is the greatest number of rows
// that a tool may answer.
const atOnce = 1000

// Services returns the services that extract figures from files: about returns the date of a
// document, the status of its figures and the documents that it replaces; extract returns the
// findings, at most a thousand at a time; suggest lets a model suggest more. Without a model,
// complete is nil.
func Services(read services.Read, complete services.Complete) map[string]tools.Service {
	var last atomic.Pointer[extracted]
	const input = `{"type":"object","properties":{"file":{"type":"string","format":"upload"},"name":{"type":"string"},"from":{"type":"integer"}},"required":["file","name"],"additionalProperties":false}`
	const output = `{"type":"object","properties":{"findings":{"type":"array","items":{"type":"object","properties":{"number":{"type":"integer"},"metric":{"type":"string"},
		"domain":{"type":"string"},"label":{"type":["string","null"]},"heading":{"type":["string","null"]},"title":{"type":["string","null"]},"subject":{"type":["string","null"]},"period":{"type":["string","null"]},"value":{"type":"number"},"exact_to":{"type":"number"},"unit":{"type":["string","null"]},
		"status":{"type":"string"},"place":{"type":"string"},"text":{"type":"string"},"confidence":{"type":"integer"}}}}}}`
	return map[string]tools.Service{
		"about": {
			Document: true,
			Says:     "When a document was written, what its figures are, what it says it takes the place of, and how many figures it has.",
			Input:    json.RawMessage(input),
			Output: json.RawMessage(`{"type":"object","properties":{"dated":{"type":["string","null"],"format":"date"},"status":{"type":"string"},"part":{"type":["string","null"]},"title":{"type":["string","null"]},
				"replaces":{"type":["string","null"]},"figures":{"type":"integer"},"scale":{"type":["string","null"]}}}`),
			Do: reading(read, &last, func(about About, all []Finding, _ int) any {
				out := struct {
					Dated    *string `json:"dated"`
					Status   string  `json:"status"`
					Part     *string `json:"part"`
					Title    *string `json:"title"`
					Replaces *string `json:"replaces"`
					Figures  int     `json:"figures"`
					Scale    *string `json:"scale"`
				}{Scale: some(about.Measure), Status: about.Status, Part: some(about.Part), Title: some(about.Title), Figures: len(all)}
				if !about.Date.IsZero() {
					s := about.Date.Format(time.DateOnly)
					out.Dated = &s
				}
				if len(about.Replaces) > 0 {
					text, _ := json.Marshal(about.Replaces) // of times and texts
					s := string(text)
					out.Replaces = &s
				}
				return out
			}),
		},
		"extract": {
			Document: true,
			Says:     "The figures of a document, each with its place, from the figure of a number on.",
			Input:    json.RawMessage(input),
			Output:   json.RawMessage(output),
			Do: reading(read, &last, func(_ About, all []Finding, from int) any {
				out := struct {
					Findings []found `json:"findings"`
				}{[]found{}}
				from = min(max(0, from-1), len(all))
				for i, f := range all[from:min(len(all), from+atOnce)] {
					out.Findings = append(out.Findings, f.row(from+i+1))
				}
				return out
			}),
		},
		"suggest": {
			Document: true, // its text is the document's; a model chooses the figures
			Says:     "The figures of a document that a model finds besides, each only if it stands at its place, from the passage of a number on.",
			Input:    json.RawMessage(input),
			Output:   json.RawMessage(output),
			Do:       suggestion(read, complete),
		},
	}
}

type found struct {
	Number     int         `json:"number"`
	Metric     string      `json:"metric"`
	Domain     string      `json:"domain"`
	Label      *string     `json:"label"`
	Heading    *string     `json:"heading"`
	Title      *string     `json:"title"`
	Subject    *string     `json:"subject"`
	Period     *string     `json:"period"`
	Value      json.Number `json:"value"`
	ExactTo    json.Number `json:"exact_to"`
	Unit       *string     `json:"unit"`
	Status     string      `json:"status"`
	Place      string      `json:"place"`
	Text       string      `json:"text"`
	Confidence int         `json:"confidence"`
}

func (f *Finding) row(number int) found {
	return found{number, f.Metric, f.Domain, some(f.Label), some(f.Head), some(f.Title), some(f.Subject), some(f.Period.String()), decimal(f.Value), decimal(f.Step), some(f.Unit), f.Status, f.Place, f.Text, f.Confidence}
}

func decimal(r *big.Rat) json.Number { return json.Number(shown(r)) }

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// extracted is what was taken out of a document under a name: what comes next mostly asks for more of it.
type extracted struct {
	doc  *documents.Document
	name string
	About
	all []Finding
}

// reading answers from the figures of the file that a call names.
func reading(read services.Read, last *atomic.Pointer[extracted], answer func(about About, all []Finding, from int) any) func(context.Context, tools.Call) (tools.Answer, error) {
	return services.Reading(read, func(doc *documents.Document, name string, from int) any {
		kept := last.Load()
		if kept == nil || kept.doc != doc || kept.name != name {
			kept = &extracted{doc: doc, name: name}
			kept.About, kept.all = Extract(name, doc)
			last.Store(kept)
		}
		return answer(kept.About, kept.all, from)
	})
}
