package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// People call a row roughly what its label says: "pierre wealth", "Source of wealth (Dupont)",
// "Piere sow". A text in the place of a reference is compared with the labels of the rows that
// the session may see, and with no others: a row out of scope is as absent as one that does not
// exist.
//
// A text stands for a row only if it is the label of exactly one row, apart from capitals,
// accents and punctuation. Otherwise the candidates are listed, the best first.

const (
	// maxMeant is the greatest number of candidates that are listed for a text.
	maxMeant = 5
	// maxTexts is the greatest number of texts that are compared for one script.
	maxTexts = 20
	// maxSearched is the greatest number of rows of an entity that are compared.
	maxSearched = 100_000
	// searchPage is how many of them are read at once.
	searchPage = 5000
	// likely is the least score of a candidate.
	likely = 0.55
)

// A meaning holds the candidates for a text.
type meaning struct {
	text   string
	words  []string
	exact  []stores.Value // keys of rows whose label it is; two are enough to know
	ranked []ranked       // best first
	cut    bool           // there were more rows than were looked at

	near  []verbs.Candidate
	ready bool
}

type ranked struct {
	key   stores.Value
	label string
	score float64
}

// better orders candidates by score, then by label, then by key, so that the order is always
// the same.
func (a *ranked) better(b *ranked) bool {
	switch {
	case a.score != b.score:
		return a.score > b.score
	case a.label != b.label:
		return a.label < b.label
	}
	return a.key.Text() < b.key.Text()
}

// searchLabels looks for texts among the labels of an entity's rows, a page at a
// time.
func searchLabels(ctx context.Context, s *Session, r stores.Reader, e *verbs.Entity, all []*meaning) error {
	if len(e.Label.Text) == 0 {
		return nil
	}
	for _, m := range all {
		*m = meaning{text: m.text, words: m.words} // of a View that runs again
	}
	var nameless []stores.Unreadable
	find := stores.Find{Entity: e.Store, Select: labels(e), Limit: searchPage, Cut: true, Blank: true, Unreadable: &nameless}
	for looked := 0; ; {
		rows, err := r.Find(ctx, find)
		if err != nil {
			return err
		}
		for _, row := range rows {
			label := label(e, row)
			words := names.Words(label)
			for _, m := range all {
				m.weigh(row[0], label, words)
			}
		}
		looked += len(rows) + len(nameless)
		if len(rows)+len(nameless) < searchPage || len(rows) == 0 {
			break
		}
		nameless = nil
		if looked >= maxSearched {
			for _, m := range all {
				m.cut = true
			}
			break
		}
		find.Where = &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: e.Store.Key}, Value: rows[len(rows)-1][0]}
	}
	for _, m := range all {
		// Each script compares anew: a label that one row had may be that of two now.
		var key stores.Value
		if len(m.exact) == 1 && !m.cut {
			key = m.exact[0]
		}
		s.names.SetText(e.Store, m.text, key)
	}
	return nil
}

// weigh takes a row into account.
func (m *meaning) weigh(key stores.Value, label string, words []string) {
	if len(m.exact) < 2 && len(words) > 0 && slices.Equal(words, m.words) {
		m.exact = append(m.exact, key)
	}
	found := ranked{key, label, names.Likeness(m.words, words)}
	if found.score < likely || len(m.ranked) == maxMeant && !found.better(&m.ranked[maxMeant-1]) {
		return
	}
	at := slices.IndexFunc(m.ranked, func(r ranked) bool { return found.better(&r) })
	if at < 0 {
		at = len(m.ranked)
	}
	m.ranked = slices.Insert(m.ranked, at, found)
	m.ranked = m.ranked[:min(len(m.ranked), maxMeant)]
}

// tellCandidates names the candidates, and adds the first fields in which they differ.
func tellCandidates(ctx context.Context, s *Session, r stores.Reader, e *verbs.Entity, m *meaning) error {
	if m.ready || len(m.ranked) == 0 {
		return nil
	}
	m.ready = true
	keys := make([]stores.Value, len(m.ranked))
	for i, found := range m.ranked {
		keys[i] = found.key
	}
	if err := s.nameKeys(ctx, r, e, keys); err != nil {
		return err
	}
	if err := s.nameOwners(ctx, r, e, keys); err != nil {
		return err
	}
	rows, err := r.Find(ctx, stores.Find{Entity: e.Store, Limit: maxMeant, Blank: true,
		Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Store.Key}, Value: stores.NewList(keys...)}})
	if err != nil {
		return err
	}
	var differ []int
	for i := range e.Store.Fields {
		f := &e.Store.Fields[i]
		if i == e.Store.Key || f.Ref != nil || f.Sensitive || f.Kind == stores.JSON || f.Kind == stores.UUID || len(differ) == 2 {
			continue
		}
		same, long := true, false
		for _, row := range rows {
			same = same && row[i] == rows[0][i]
			long = long || len(row[i].Text()) > 40
		}
		if !same && !long {
			differ = append(differ, i)
		}
	}
	for _, found := range m.ranked {
		named, _ := s.names.Row(e.Store, found.key)
		c := verbs.Candidate{Name: named.Name, Label: found.label}
		for _, row := range rows {
			if row[e.Store.Key] != found.key {
				continue
			}
			var tells []string
			for _, i := range differ {
				value := row[i].Text()
				if row[i].IsNull() {
					value = "none"
				}
				if !strings.Contains(strings.ToLower(found.label), strings.ToLower(value)) {
					tells = append(tells, e.Store.Fields[i].Name+" "+value)
				}
			}
			if owner := s.ownerName(e.Store, named.Owner); owner != "" && s.SeesSeveral() {
				tells = append(tells, "of "+owner)
			}
			c.Tells = strings.Join(tells, ", ")
		}
		m.near = append(m.near, c)
	}
	return nil
}

// Meant implements verbs.Meant.
func (n *scriptNames) Meant(e *verbs.Entity, text string) ([]verbs.Candidate, string) {
	all := n.meant[e]
	i := slices.IndexFunc(all, func(m *meaning) bool { return m.text == text })
	switch {
	case i < 0 && len(all) >= maxTexts:
		return nil, fmt.Sprintf("more than %d texts of one script are not looked for", maxTexts)
	case i < 0:
		return nil, ""
	case all[i].cut:
		return all[i].near, fmt.Sprintf("only the first %d rows were looked at; a name is always found", maxSearched)
	case len(all[i].near) > 0:
		return all[i].near, ""
	}
	var adds []string
	for _, v := range n.s.Verbs() {
		if slices.ContainsFunc(v.Effects, func(f verbs.Effect) bool { return f.Kind == verbs.Creates && f.Entity == e }) {
			adds = append(adds, v.Name)
		}
	}
	if len(adds) != 1 {
		return nil, ""
	}
	return nil, adds[0] + " adds one"
}

// ask notes that a script names a row of an entity by a text.
func (n *scriptNames) ask(text string, e *verbs.Entity) {
	if n.meant == nil {
		n.meant = make(map[*verbs.Entity][]*meaning)
	}
	if !slices.Contains(n.among, e) {
		n.among = append(n.among, e)
	}
	all := n.meant[e]
	if len(all) >= maxTexts || slices.ContainsFunc(all, func(m *meaning) bool { return m.text == text }) {
		return
	}
	n.meant[e] = append(all, &meaning{text: text, words: names.Words(text)})
}

// likeNames finds names that share words with an unknown name: the name may have been made up from a
// row's label.
func likeNames(s *Session, among []*verbs.Entity, name string) []string {
	m := meaning{words: names.Words(name)}
	for _, e := range among {
		s.names.Each(e.Store, func(key stores.Value, row names.Row) { m.weigh(key, row.Name, names.Words(row.Label)) })
	}
	near := message.Names(m.ranked[:min(len(m.ranked), 3)], func(found ranked) string { return found.label })
	return near
}
