// Package kiisha carries out what the palette of a document desk cannot say in YAML: the kind of a
// document, its place, and the values under its labels.
//
// Pure functions decide: Classify, Suggest and Fields. A handler reads the rows of the caller's own
// organisation and calls them; services read files.
package kiisha

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"verbatim/runtime/engine"
	"verbatim/runtime/files/documents"
	"verbatim/runtime/files/services"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/stores/files"
)

// Register brings the handlers of the palette.
func Register(h *engine.Handlers) {
	engine.Handle(h, "kiisha.suggest-link", suggest)
	engine.Handle(h, "kiisha.reject-document", func(ctx context.Context, c *engine.Call, a rejectArgs) (engine.Outcome, error) {
		return leave(ctx, c, a.Document)
	})
	engine.Handle(h, "kiisha.delete-document", func(ctx context.Context, c *engine.Call, a documentArgs) (engine.Outcome, error) {
		return leave(ctx, c, a.Document)
	})
}

type rejectArgs struct {
	Document     engine.Ref `verb:"document-id"`
	Organisation engine.Ref `verb:"organisation-id"` // the palette's rules look at it
}

// leave resets the checklist items that a document counts for, when it is rejected or deleted: each
// gets the state that its other documents give it. A verified item must not depend on a document
// that is not verified.
func leave(ctx context.Context, c *engine.Call, document engine.Ref) (engine.Outcome, error) {
	out := c.Declared()
	doc, err := c.Get(ctx, document)
	if err != nil {
		return out, err
	}
	status := doc.Value("status").Text()
	links, err := c.Find(ctx, "secondary-link", engine.Fields{"document": document})
	if err != nil || status == "REJECTED" {
		return out, err
	}
	for _, link := range links {
		to := link.To("item")
		if to.IsZero() {
			continue
		}
		item, err := c.Get(ctx, to)
		if err != nil {
			return out, err
		}
		others, err := c.Find(ctx, "secondary-link", engine.Fields{"item": to})
		if err != nil {
			return out, err
		}
		state := "MISSING"
		for _, other := range others {
			stands, err := c.Get(ctx, other.To("document"))
			switch {
			case err != nil:
				return out, err
			case stands.Ref() == document:
			case stands.Value("status").Text() == "VERIFIED":
				state = "VERIFIED"
			case stands.Value("status").Text() == "PENDING" && state == "MISSING":
				state = "RECEIVED"
			}
		}
		if was := item.Value("state").Text(); was != "MISSING" && was != state && (was != "VERIFIED" || status == "VERIFIED") {
			out.Changes = append(out.Changes, engine.Update(to, engine.Fields{"state": state}))
		}
	}
	return out, nil
}

type documentArgs struct {
	Document engine.Ref `verb:"document-id"`
}

// mostRead is the greatest number of passages of a document that are read.
const mostRead = 200

// suggest returns the kind of a document and its possible places, from its text and from the
// projects, sites and assets of its organisation.
func suggest(ctx context.Context, c *engine.Call, a documentArgs) (engine.Outcome, error) {
	var out engine.Outcome
	doc, err := c.Get(ctx, a.Document)
	if err != nil {
		return out, err
	}
	refs, places, err := placesOf(ctx, c, doc.To("organisation"))
	if err != nil {
		return out, err
	}
	rows, err := c.Find(ctx, "passage", engine.Fields{"document": a.Document})
	if err != nil {
		return out, err
	}
	text := make([]Passage, 0, len(rows))
	for _, row := range rows[:min(len(rows), mostRead)] {
		text = append(text, Passage{row.Value("place").Text(), row.Value("page").Int() <= 1 && row.Value("number").Int() <= 3, row.Value("text").Text()})
	}
	name := doc.Value("name").Text()
	s := Suggest(name, text, places)
	class := Classify(name, text)
	filing := "UNLINKED"
	if s.To >= 0 {
		filing = "SUGGESTED"
		confidence, _ := stores.ParseDecimal(strconv.FormatFloat(s.Confidence, 'f', 4, 64))
		out.Changes = append(out.Changes, engine.Create("primary-link", engine.Fields{"document": a.Document, [...]string{"project", "site", "asset"}[places[s.To].Kind]: refs[s.To],
			"linked_by": "AI_SUGGESTION", "confidence": confidence, "linked_at": c.Now()}))
	}
	set := engine.Fields{"class": class, "filing": filing}
	for field, value := range map[string]string{"reason": s.Reason, "named": s.Named, "named_at": s.At, "also_named": s.Also} {
		if value != "" {
			set[field] = value
		}
	}
	out.Changes = append(out.Changes, engine.Update(a.Document, set))
	return out, nil
}

func some(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// placesOf lists the projects of an organisation, with their sites and assets.
func placesOf(ctx context.Context, c *engine.Call, organisation engine.Ref) (refs []engine.Ref, places []Place, err error) {
	var below func(kind Kind, entity, field string, of engine.Ref, in int) error
	below = func(kind Kind, entity, field string, of engine.Ref, in int) error {
		rows, err := c.Find(ctx, entity, engine.Fields{field: of})
		for _, row := range rows {
			refs = append(refs, row.Ref())
			at := len(places)
			p := Place{kind, row.Value("name").Text(), row.Value("code").Text(), in}
			if kind == Project {
				p.In = at
			}
			places = append(places, p)
			if kind < Asset && err == nil {
				err = below(kind+1, [...]string{"site", "asset"}[kind], [...]string{"project", "site"}[kind], row.Ref(), at)
			}
		}
		return err
	}
	err = below(Project, "project", "organisation", organisation, 0)
	return refs, places, err
}

// What reads files

// Services returns the services of the palette for files: about returns the name and type of a file,
// even one that nobody can read; read returns its text in chunks; fields returns the values under
// labels.
func Services(open services.Open, read services.Read) map[string]tools.Service {
	const input = `{"type":"object","properties":{"file":{"type":"string","format":"upload"}},"required":["file"],"additionalProperties":false}`
	return map[string]tools.Service{
		"about": {
			Document: true,
			Says:     "What a file is called and is; of one that cannot be read, why not.",
			Input:    json.RawMessage(input),
			Output:   json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"format":{"type":["string","null"]},"pages":{"type":["integer","null"]},"problem":{"type":["string","null"]}}}`),
			Do: func(ctx context.Context, c tools.Call) (tools.Answer, error) {
				return answer(ctx, read, c, func(reference string, doc *documents.Document, problem string) (any, error) {
					name, content, err := open(ctx, reference)
					if err != nil {
						return nil, err
					}
					content.Close()
					about := map[string]any{"name": clip(name, 120), "format": nil, "pages": nil, "problem": some(problem)}
					if doc != nil {
						about["format"] = some(doc.Format)
						if doc.Pages > 0 {
							about["pages"] = doc.Pages
						}
					}
					return about, nil
				})
			},
		},
		"read": {
			Document: true,
			Says:     "The text of a file in chunks, each with its place; none of a file that cannot be read.",
			Input:    json.RawMessage(input),
			Output: json.RawMessage(`{"type":"object","properties":{"chunks":{"type":"array","items":{"type":"object","properties":{"number":{"type":"integer"},"place":{"type":"string"},
				"page":{"type":["integer","null"]},"text":{"type":"string"}}}}}}`),
			Do: func(ctx context.Context, c tools.Call) (tools.Answer, error) {
				return answer(ctx, read, c, func(_ string, doc *documents.Document, _ string) (any, error) {
					chunks := []services.Chunk{}
					if doc != nil {
						chunks = append(chunks, services.Chunks(doc, 0)...)
					}
					return map[string]any{"chunks": chunks[:min(len(chunks), 1000)]}, nil
				})
			},
		},
		"fields": {
			Document: true,
			Says:     "What a document says under labels that are known, each with its place.",
			Input:    json.RawMessage(input),
			Output: json.RawMessage(`{"type":"object","properties":{"fields":{"type":"array","items":{"type":"object","properties":{"number":{"type":"integer"},"name":{"type":"string"},
				"value":{"type":"string"},"place":{"type":"string"},"text":{"type":"string"}}}}}}`),
			Do: services.Reading(read, func(doc *documents.Document, _ string, _ int) any { return map[string]any{"fields": Fields(doc)} }),
		},
	}
}

// answer answers of a file that may be unreadable: then doc is nil, and problem says why.
func answer(ctx context.Context, read services.Read, c tools.Call, say func(reference string, doc *documents.Document, problem string) (any, error)) (tools.Answer, error) {
	var a struct{ File string }
	if err := json.Unmarshal([]byte(c.Args), &a); err != nil {
		return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
	}
	doc, err := read(ctx, a.File, func(int, int) {})
	problem := ""
	var failed *documents.Failure
	switch {
	case errors.Is(err, files.ErrNotFound):
		return tools.Answer{Failed: true, Text: "the file is not there any more"}, nil
	case errors.As(err, &failed):
		doc, problem = nil, failed.Error()
	case err != nil:
		return tools.Answer{}, err
	}
	said, err := say(a.File, doc, problem)
	if err != nil {
		return tools.Answer{}, err
	}
	text, err := json.Marshal(said)
	return tools.Answer{Structured: string(text)}, err
}

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most]))
	}
	return s
}
