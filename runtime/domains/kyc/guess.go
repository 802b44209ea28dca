package kyc

import (
	"context"
	"slices"
	"time"

	"verbatim/runtime/engine"
)

// Wrong answers are counted for the person guessed at. Three of one peer hold what that peer is told
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
	holdsPair   = "PAIR"
	holdsPerson = "PERSON"
)

// guess returns whom a wrong answer is about: the person with the likest name. "" if the answer is
// about nobody, or nothing in it is wrong. People of one name are counted together.
func (d *Decision) guess() (id string) {
	if d.Outcome != Partial || d.Seen[0].count(Mismatched) == 0 {
		return ""
	}
	likeness := 0.0
	for i := range d.Seen {
		if c := &d.Seen[i]; c.Likeness > likeness || c.Likeness == likeness && c.Candidate.ID < id {
			likeness, id = c.Likeness, c.Candidate.ID
		}
	}
	return id
}

// hold makes the decision one that tells nothing new: whatever is right in it was told before, and
// everything else looks wrong. So a right guess is answered as a wrong one is, held or not.
func (d *Decision) hold(told [4]bool) {
	d.Outcome, d.Subject = Partial, ""
	for i := range d.Fields {
		if d.Fields[i] == Matched && !told[i] {
			d.Fields[i] = Mismatched
		}
	}
}

// A weight is what the wrong answers before this one come to.
type weight struct {
	held  bool    // nothing new is told
	told  [4]bool // the identifiers that this peer was told to be right
	holds string  // what this answer holds if it is wrong, "" if nothing
}

// guessed looks at the wrong answers about those who may be meant, of whom this answer counts for
// one. It does the same search if nobody is meant.
func guessed(ctx context.Context, l *engine.Look, peer engine.Ref, d *Decision, about string) (w weight, err error) {
	near := []string{""}
	if len(d.Seen) > 0 {
		near = nil
	}
	for i := range d.Seen[:min(len(d.Seen), mostNear)] {
		near = append(near, d.Seen[i].Candidate.ID)
	}
	if about != "" && !slices.Contains(near, about) {
		near = append(near, about)
	}
	for i, id := range near {
		rows, err := l.Rows(ctx, "challenge", engine.Fields{"about": id})
		if err != nil {
			return w, err
		}
		ofPeer, ofDay := 0, 0
		for _, row := range rows {
			mine := row.To("peer") == peer
			if mine {
				ofPeer++
			}
			if l.Now().Sub(row.Value("at").Time()) < 24*time.Hour {
				ofDay++
			}
			for f, field := range fieldNames {
				w.told[f] = w.told[f] || i == 0 && mine && row.Value(field).Text() == string(Matched)
			}
			w.held = w.held || row.Value("holds").Text() == holdsPerson
		}
		w.held = w.held || ofPeer >= mostOfPeer || ofDay >= mostOfDay
		switch {
		case id != about || about == "":
		case ofDay+1 >= mostOfDay:
			w.holds = holdsPerson
		case ofPeer+1 >= mostOfPeer:
			w.holds = holdsPair
		}
	}
	return w, nil
}
