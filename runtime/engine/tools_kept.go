package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/internal/digest"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/verbs"
)

// The answers of read-only tools are kept with the preview that rests on them, so that the run that
// follows it does not ask again. They are kept for the same request of the same principal, as long
// as the preview is valid and the tool describes itself as it did. Where the store keeps the
// preview, it keeps the answers too, until the preview is settled.
//
// A file of an answer is an upload of the principal, which expires with the preview; the run that
// uses the answer keeps it as long as any other.
//
// Some answers are not kept, and their tool is asked again: those beyond maxKeptAnswers, those whose
// file is gone, and, where the row keeps no sensitive values, those that may repeat one.

// maxKeptAnswers is the greatest size in bytes of all answers that are kept with one preview.
const maxKeptAnswers = 64_000

// A toolAnswer is the answer of a tool to one request.
type toolAnswer struct {
	tools.Answer
	server, name string
	digest       string // of the tool's description, see tools.Spec
	at           time.Time
	tries        int  // how often this run asked for it; 0 if it was given before
	previewed    bool // it was given for the preview
}

// requestDigest identifies a request to a read-only tool among kept answers.
func requestDigest(e *externalCall) string { return digest.Of("verbatim kept answer 1", e.id()) }

// countTries says in the receipt how often a tool was asked for its answer, once for equal requests.
func (p *plan) countTries(e *externalCall) {
	id := requestDigest(e)
	counted := func(st *step) bool {
		return st.external != nil && st.external != e && st.external.answered && requestDigest(st.external) == id
	}
	if e.got.tries == 0 || slices.ContainsFunc(p.steps, counted) {
		e.Answered, e.Previewed = stores.NewTime(e.got.at), e.got.previewed
		return
	}
	if e.got.tries > 1 {
		e.Tries = e.got.tries
	}
}

// answersOf returns the answers of read-only tools that a plan rests on, by requestDigest: for the
// rest of the same run if most is 0, otherwise those of up to most bytes that may be kept with a
// preview.
func answersOf(r *run, most int, sensitive bool) map[string]toolAnswer {
	all := make(map[string]toolAnswer)
	size := 0
	for _, st := range r.plan.steps {
		e := st.external
		if e == nil || !e.ReadOnly || !e.answered || !sensitive && e.tellsSensitive() {
			continue
		}
		id, n := requestDigest(e), len(e.got.Text)+len(e.got.Structured)
		if _, has := all[id]; has || most > 0 && size+n > most {
			continue
		}
		all[id], size = e.got, size+n
	}
	return all
}

// tellsSensitive reports whether the answer may hold a sensitive value.
func (e *externalCall) tellsSensitive() bool {
	for _, s := range e.Sent {
		if s.Sensitive {
			return true
		}
	}
	return len(e.st.verb.Returns.Shows) > 0
}

// fromPreview returns answers as those of a preview, for the run that follows it.
func fromPreview(all map[string]toolAnswer) map[string]toolAnswer {
	before := make(map[string]toolAnswer, len(all))
	for id, a := range all {
		a.tries, a.previewed = 0, true
		before[id] = a
	}
	return before
}

// usableAnswers returns those of a preview's answers whose tools describe themselves as they did, and
// whose files are there.
func usableAnswers(ctx context.Context, e *Engine, kept map[string]toolAnswer) map[string]toolAnswer {
	all := make(map[string]toolAnswer, len(kept))
	described := make(map[[2]string]string)
	for id, a := range kept {
		if !a.previewed { // it was given a moment ago
			all[id] = a
			continue
		}
		if a.File != nil {
			if u, found, err := e.Uploads().Named(ctx, a.File.Reference); err != nil || !found || looksAgain(e, &u) {
				continue
			}
		}
		tool := [2]string{a.server, a.name}
		if _, asked := described[tool]; !asked && e.opt.Tools != nil {
			if spec, err := e.opt.Tools.Tool(ctx, a.server, a.name); err == nil && spec.Accepted == spec.Digest {
				described[tool] = spec.Digest
			}
		}
		if is, ok := described[tool]; ok && is == a.digest {
			all[id] = a
		}
	}
	return all
}

// madeFiles returns the keys of the files that tools made for the plan, and that it does not use.
func madeFiles(r *run) (keys []stores.Value) {
	for _, a := range answersOf(r, 0, true) {
		if a.File == nil {
			continue
		}
		id, _ := strings.CutPrefix(a.File.Reference, verbs.UploadScheme)
		if key := stores.NewString(id); !slices.ContainsFunc(r.plan.uploads(), func(u usedUpload) bool { return u.row.Key() == key }) {
			keys = append(keys, key)
		}
	}
	return keys
}

// A storedAnswer is a toolAnswer in a row.
type storedAnswer struct {
	Server, Name, Digest string
	At                   time.Time
	Structured, Text     string
	File                 *tools.File `json:",omitempty"`
}

// storeAnswers writes answers for a row; "" if there are none.
func storeAnswers(all map[string]toolAnswer) string {
	if len(all) == 0 {
		return ""
	}
	out := make(map[string]storedAnswer, len(all))
	for id, a := range all {
		out[id] = storedAnswer{a.server, a.name, a.digest, a.at, a.Structured, a.Text, a.File}
	}
	text, _ := json.Marshal(out) // of texts and times
	return string(text)
}

// storedAnswers reads the answers of a confirmation. If they cannot be read the tools are asked
// again.
func storedAnswers(c *confirmations.Confirmation) map[string]toolAnswer {
	var in map[string]storedAnswer
	if json.Unmarshal([]byte(c.Answers), &in) != nil {
		return nil
	}
	all := make(map[string]toolAnswer, len(in))
	for id, a := range in {
		all[id] = toolAnswer{Answer: tools.Answer{Structured: a.Structured, Text: a.Text, File: a.File}, server: a.Server, name: a.Name, digest: a.Digest, at: a.At, previewed: true}
	}
	return all
}
