package kyc

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores/search"
)

// Wrong answers are counted for the person guessed at, and so is each other name for one person, though
// it was answered as right. Three of one peer hold what that peer is told
// of the person, and ten of all peers in a day what anybody is told, until somebody of compliance
// lifts it. A peer that is held stops being counted, so that one peer alone holds nobody for others.
const (
	mostOfPeer = 3
	mostOfDay  = 10
	// mostNear is the greatest number of candidates whose wrong answers are looked at.
	mostNear = 10
)

// The kinds of holds.
const (
	holdsNothing = "NOTHING"
	holdsPair    = "PAIR"
	holdsPerson  = "PERSON"
)

// nobody is whom an answer is about that is about nobody.
const nobody = "-"

// guess returns whom an answer is about: the person with the likest name, or somebody whose telephone
// number or address was sent with other names. "" if it is about nobody. wrong says that the answer
// counts whatever the name is. People of one name are counted together.
func (d *Decision) guess() (id string, wrong bool) {
	if d.Outcome == None {
		return d.Owner, d.Owner != ""
	}
	likeness := 0.0
	for i := range d.Seen {
		if c := &d.Seen[i]; c.Likeness > likeness || c.Likeness == likeness && c.Candidate.ID < id {
			likeness, id = c.Likeness, c.Candidate.ID
		}
	}
	return cmp.Or(d.Subject, id), d.Seen[0].count(Mismatched) > 0
}

// hold makes the decision one that tells nothing new. What was told to be right is told so again, and
// everything else looks wrong; under a name that was not told to be alike, there is nobody. So a right
// guess is answered as a wrong one is, held or not.
func (d *Decision) hold(w *weight) {
	d.Fields = w.hidden(d.Fields)
	switch {
	case !w.name:
		d.Outcome, d.Subject, d.Likeness = None, "", 0
	case d.Outcome == Perfect && !slices.Contains(d.Fields[:], Mismatched): // all of it was told before
	default:
		d.Outcome, d.Subject = Partial, ""
	}
}

// hidden returns the fields with those that match and were not told to.
func (w *weight) hidden(fields [4]Field) [4]Field {
	for i := range fields {
		if fields[i] == Matched && !(w.told[i] && w.name) {
			fields[i] = Mismatched
		}
	}
	return fields
}

// A weight is what the answers before this one come to.
type weight struct {
	held  bool    // nothing new is told
	name  bool    // this peer was told that the name is alike
	told  [4]bool // the identifiers that this peer was told to be right
	known bool    // all that this answer tells was told before
	holds string  // what this answer holds if it counts, "" if nothing
}

// A tally counts answers about a person. Of those in which nothing is wrong, each name of a peer
// after its first counts for one: somebody who knows whom they ask about has one name for them.
type tally struct {
	wrong int
	names map[string]bool
	peers map[engine.Ref]bool
}

func (t *tally) add(peer engine.Ref, name string, wrong bool) {
	if wrong {
		t.wrong++
		return
	}
	if t.names == nil {
		t.names, t.peers = map[string]bool{}, map[engine.Ref]bool{}
	}
	t.peers[peer], t.names[fmt.Sprint(peer)+"\x00"+name] = true, true
}

func (t *tally) sum() int { return t.wrong + len(t.names) - len(t.peers) }

// guessed looks at the answers about those who may be meant, of whom this answer counts for one. It
// does the same search if nobody is meant.
func guessed(ctx context.Context, l *engine.Look, peer engine.Ref, name string, d *Decision) (w weight, about string, err error) {
	about, wrong := d.guess()
	near := []string{about}
	if len(d.Seen) > 0 {
		near = nil
	}
	for i := range d.Seen[:min(len(d.Seen), mostNear)] {
		near = append(near, d.Seen[i].Candidate.ID)
	}
	if !slices.Contains(near, about) {
		near = append(near, about)
	}
	name = search.AnyOrder(name)
	for i, id := range near {
		rows, err := l.Rows(ctx, "challenge", engine.Fields{"about": id})
		if err != nil {
			return w, "", err
		}
		var ofPeer, ofDay tally
		for _, row := range rows {
			by, typed, amiss := row.To("peer"), row.Value("typed_name"), false
			for f, field := range fieldNames {
				is := Field(row.Value(field).Text())
				w.told[f] = w.told[f] || i == 0 && by == peer && is == Matched
				amiss = amiss || is == Mismatched
			}
			alias := search.AnyOrder(typed.Text())
			w.name = w.name || i == 0 && by == peer && row.Value("came").Text() != statusRejected && row.Value("came").Text() != statusHeld && (typed.IsNull() || alias == name)
			if by == peer {
				ofPeer.add(by, alias, amiss)
			}
			if l.Now().Sub(row.Value("at").Time()) < 24*time.Hour {
				ofDay.add(by, alias, amiss)
			}
			w.held = w.held || row.Value("holds").Text() == holdsPerson
		}
		w.held = w.held || ofPeer.sum() >= mostOfPeer || ofDay.sum() >= mostOfDay
		if id != about || about == "" {
			continue
		}
		before := ofPeer.sum()
		ofPeer.add(peer, name, wrong)
		ofDay.add(peer, name, wrong)
		switch {
		case ofPeer.sum() == before:
		case ofDay.sum() >= mostOfDay:
			w.holds = holdsPerson
		case ofPeer.sum() >= mostOfPeer:
			w.holds = holdsPair
		}
	}
	w.known = !wrong && w.name && w.hidden(d.Fields) == d.Fields
	return w, about, nil
}
