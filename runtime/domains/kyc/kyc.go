// Package kyc carries out what the palette of a verification agent cannot say in YAML: who is meant
// by a name and identifiers, and what a peer may be told without learning about anybody what it did
// not send.
//
// Pure functions decide: Alike and Decide about people, Said about what a peer is told, Reflect
// about what must not leave. The looks read rows and call these functions; their results leave
// only through the palette's `discloses`.
package kyc

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/runtime/domains/kyc/redact"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs/values"
)

// Register brings the looks and the functions of the palette.
func Register(h *engine.Handlers) {
	engine.Looks(h, "kyc.verify", verify)
	engine.Looks(h, "kyc.supply", supply)
	engine.Looks(h, "kyc.exchange-keys", exchange)
	engine.Looks(h, "kyc.migrate", migrate)
	engine.Looks(h, "kyc.redeem", redeem)
	text := func(name string, fn func(string) string) {
		h.Function(name, func(args []stores.Value) (stores.Value, error) { return stores.NewString(fn(args[0].Text())), nil })
	}
	text("phone-known-by", Phone)
	text("email-known-by", Email)
	h.Function("harmless", func(args []stores.Value) (stores.Value, error) {
		return stores.NewBool(!redact.Input(args[0].Text()).Found()), nil
	})
	said := func(args []stores.Value) *Said {
		s := &Said{Status: args[0].Text(), Typed: args[1].Text(), Likeness: int(args[2].Int()), Revised: args[3].Text() != safe}
		for i := range s.Fields {
			s.Fields[i] = Field(args[4+i].Text())
		}
		return s
	}
	h.Function("told", func(args []stores.Value) (stores.Value, error) { return stores.NewString(said(args).Message()), nil })
	h.Function("thoughts", func(args []stores.Value) (stores.Value, error) {
		return stores.NewString(strings.Join(said(args).Thoughts(), "\n")), nil
	})
}

// Phone returns the form in which telephone numbers are kept: the last ten digits (H23). They are compared
// by values.SamePhone, in any form, since tables are filled by others, too.
func Phone(text string) string { return values.LastTen(text) }

// Email returns the form in which addresses are compared.
func Email(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// What was sent

type verifyArgs struct {
	Name      string     `verb:"name"`
	Phone     *string    `verb:"phone"`
	Email     *string    `verb:"email"`
	SSNLast4  *string    `verb:"ssn-last4"`
	BirthDate *time.Time `verb:"birth-date"`
	Purpose   string     `verb:"purpose"`
	Level     *string    `verb:"risk-level"`
	Peer      engine.Ref `verb:"peer-id"`
}

type supplyArgs struct {
	Verification engine.Ref `verb:"verification-id"`
	Name         *string    `verb:"name"`
	Phone        *string    `verb:"phone"`
	Email        *string    `verb:"email"`
	SSNLast4     *string    `verb:"ssn-last4"`
	BirthDate    *time.Time `verb:"birth-date"`
}

func sent(phone, email, last4 *string, birth *time.Time) (i Identifiers) {
	if phone != nil && Phone(*phone) != "" {
		i.Phone = *phone
	}
	if email != nil {
		i.Email = Email(*email)
	}
	if last4 != nil {
		i.SSNLast4 = strings.ToUpper(*last4)
	}
	if birth != nil {
		i.BirthDate = Birth(birth.Format(time.DateOnly))
	}
	return i
}

// Birth returns the form in which days of birth are compared. Registers write 1900-01-01 for one that
// they do not know, which is no day of birth.
func Birth(day string) string {
	if day == "1900-01-01" {
		return ""
	}
	return day
}

func verify(ctx context.Context, l *engine.Look, a verifyArgs) (engine.Fields, error) {
	level := ""
	if a.Level != nil {
		level = *a.Level
	} else {
		peer, err := l.Get(ctx, a.Peer)
		if err != nil {
			return nil, err
		}
		level = peer.Value("level").Text()
	}
	return decided(ctx, l, a.Peer, a.Name, sent(a.Phone, a.Email, a.SSNLast4, a.BirthDate), level)
}

func supply(ctx context.Context, l *engine.Look, a supplyArgs) (engine.Fields, error) {
	v, err := l.Get(ctx, a.Verification)
	if err != nil {
		return nil, err
	}
	name := v.Value("typed_name").Text()
	if a.Name != nil {
		name = *a.Name
	}
	given, err := decided(ctx, l, v.To("peer"), name, sent(a.Phone, a.Email, a.SSNLast4, a.BirthDate), v.Value("level").Text())
	if err == nil { // what was looked for before stays, whatever name it has now
		given["seen"] = v.Value("seen").Text() + "\n\n" + given["seen"].(string)
	}
	return given, err
}

// decided computes the result of a verification, as the palette discloses it. It does the same
// searches whether or not somebody is found, so that the time reveals nothing.
func decided(ctx context.Context, l *engine.Look, peer engine.Ref, name string, i Identifiers, level string) (engine.Fields, error) {
	t, err := threshold(ctx, l, level)
	if err != nil {
		return nil, err
	}
	s := Said{Status: statusNeeds, Typed: name}
	d := Decision{Outcome: None, Fields: compare(Identifiers{}, Identifiers{})}
	var people []Candidate
	if i.Given() > 0 && Named(name) {
		var more bool
		if people, more, err = candidates(ctx, l, name, i); err != nil {
			return nil, err
		}
		d = Decide(name, i, people, more, t)
		s.Status = d.Status(t)
	}
	seen := CandidateThoughts(name, &d)
	w, about, err := guessed(ctx, l, peer, name, &d)
	if err != nil {
		return nil, err
	}
	switch {
	case w.held:
		d.hold(&w)
		if s.Status != statusNeeds {
			s.Status = d.Status(t)
		}
		about, w.holds = "", ""
		seen = append(seen, "held: too many wrong answers, or other names, about this person")
	case w.known:
		about = ""
	}
	given := engine.Fields{"likeness": d.Likeness, "alike": d.Likeness, "name-fits": string(NotGiven), "seen": strings.Join(seen, "\n")}
	if s.Status != statusNeeds {
		given["outcome"], given["name-fits"] = string(d.Outcome), string(Mismatched)
	}
	if d.Outcome != None {
		given["name-fits"] = string(Matched)
	}
	if s.Status == statusHeld { // somebody decides first whether it is told
		delete(given, "outcome")
		delete(given, "likeness")
		given["name-fits"] = string(Pending)
		for f := range d.Fields {
			if d.Fields[f] == Matched {
				d.Fields[f] = Pending
			}
		}
	}
	s.Likeness, s.Fields = d.Likeness, d.Fields
	reflected, err := Reflect(&s, people)
	if err != nil {
		return nil, err
	}
	given["status"], given["reflected"] = s.Status, reflected
	for f, field := range [...]string{"phone-fits", "email-fits", "ssn-fits", "birth-date-fits"} {
		given[field] = string(d.Fields[f])
	}
	if d.Subject != "" {
		given["subject"] = d.Subject
	}
	// A receipt shows which fields of a row were set, so these always are.
	given["about"], given["holds"] = cmp.Or(about, nobody), cmp.Or(w.holds, holdsNothing)
	return given, nil
}

// threshold returns the threshold of a level. A level without one is held.
func threshold(ctx context.Context, l *engine.Look, level string) (Threshold, error) {
	rows, err := l.Rows(ctx, "threshold", engine.Fields{"level": level})
	if err != nil || len(rows) == 0 {
		return Threshold{Least, 1, true}, err
	}
	var t Threshold
	for _, row := range rows { // the strictest, where several registers have one
		similarity, err := strconv.ParseFloat(row.Value("similarity").Text(), 64)
		if err != nil {
			return t, err
		}
		t.Similarity, t.Identifiers, t.Held = max(t.Similarity, similarity), max(t.Identifiers, int(row.Value("identifiers").Int())), t.Held || row.Value("held").Bool()
	}
	return t, nil
}

// candidates returns everybody who may be meant: people with a nearly equal name, and people with
// the telephone number or the address. more says that there are other people with such a name.
func candidates(ctx context.Context, l *engine.Look, name string, i Identifiers) (all []Candidate, more bool, err error) {
	rows, more, err := l.Alike(ctx, "person", 2, Spellings(name)...)
	if err != nil {
		return nil, false, err
	}
	for field, forms := range map[string][]string{"phone": values.PhoneForms(i.Phone), "email": {i.Email}} {
		for _, v := range forms {
			if v == "" {
				continue
			}
			known, err := l.Rows(ctx, "person", engine.Fields{field: v})
			if err != nil {
				return nil, false, err
			}
			rows = append(rows, known...)
		}
	}
	for _, row := range rows {
		if id := row.Value("record").Text(); !slices.ContainsFunc(all, func(c Candidate) bool { return c.ID == id }) {
			all = append(all, candidate(row))
		}
	}
	return all, more, nil
}

func candidate(row engine.Row) Candidate {
	c := Candidate{ID: row.Value("record").Text(), Names: []string{row.Value("full_name").Text()}}
	if other := row.Value("other_name"); !other.IsNull() {
		c.Names = append(c.Names, other.Text())
	}
	c.Identifiers = Identifiers{Phone: row.Value("phone").Text(), Email: Email(row.Value("email").Text()), BirthDate: Birth(row.Value("birth_date").Text())}
	c.Identifiers.SSNLast4 = values.LastFour(row.Value("ssn").Text())
	return c
}

// Data of a verified person that is handed over

type exchangeArgs struct {
	Verification engine.Ref `verb:"verification-id"`
	Key          string     `verb:"public-key"`
}

type migrateArgs struct {
	Verification engine.Ref `verb:"verification-id"`
	Audience     string     `verb:"audience"`
}

type redeemArgs struct {
	Link string `verb:"link"`
	Key  string `verb:"public-key"`
}

// subject returns the person that a row is about, and whether they consented to its purpose.
func subject(ctx context.Context, l *engine.Look, row engine.Row) (person engine.Row, consented bool, err error) {
	record := row.Value("subject")
	if record.IsNull() {
		return person, false, nil
	}
	rows, err := l.Rows(ctx, "person", engine.Fields{"record": record})
	if err != nil || len(rows) != 1 {
		return person, false, err
	}
	purposes, err := rows[0].Value("consents").Items(stores.String)
	consented = slices.ContainsFunc(purposes, func(p stores.Value) bool { return p.Text() == row.Value("purpose").Text() })
	return rows[0], consented, err
}

// verified returns the person of a verification, and what is disclosed of it in any case.
func verified(ctx context.Context, l *engine.Look, of engine.Ref) (person engine.Row, given engine.Fields, err error) {
	v, err := l.Get(ctx, of)
	if err != nil {
		return person, nil, err
	}
	person, consented, err := subject(ctx, l, v)
	return person, engine.Fields{"consented": consented}, err
}

func exchange(ctx context.Context, l *engine.Look, a exchangeArgs) (engine.Fields, error) {
	person, given, err := verified(ctx, l, a.Verification)
	if err != nil {
		return nil, err
	}
	if given["numbered"] = false; given["consented"] == true {
		given["ssn"], given["numbered"] = person.Value("ssn"), !person.Value("ssn").IsNull()
	}
	return given, nil
}

func migrate(ctx context.Context, l *engine.Look, a migrateArgs) (engine.Fields, error) {
	person, given, err := verified(ctx, l, a.Verification)
	if err != nil {
		return nil, err
	}
	if given["consented"] == true {
		given["subject"] = person.Value("record")
	}
	links, err := l.Rows(ctx, "migration", engine.Fields{"verification": a.Verification})
	given["unused"] = true
	for i := 0; i < len(links) && err == nil; i++ {
		var used []engine.Row
		used, err = l.Rows(ctx, "redemption", engine.Fields{"link": links[i].Value("link")})
		given["unused"] = given["unused"] == true && len(used) == 0
	}
	return given, err
}

// redeem returns the data behind a link. It gives nothing, and no reason, if the link does not
// exist, belongs to another wallet, or has expired. The store refuses a link that was used already.
func redeem(ctx context.Context, l *engine.Look, a redeemArgs) (engine.Fields, error) {
	rows, err := l.Rows(ctx, "migration", engine.Fields{"link": a.Link})
	if err != nil || len(rows) != 1 || rows[0].Value("audience").Text() != l.Principal() || !rows[0].Value("until").Time().After(l.Now()) {
		return engine.Fields{"good": false}, err
	}
	person, consented, err := subject(ctx, l, rows[0])
	if err != nil || !consented {
		return engine.Fields{"good": false}, err
	}
	data := map[string]string{}
	for _, field := range []string{"full_name", "phone", "email", "birth_date"} {
		if v := person.Value(field); !v.IsNull() {
			data[field] = v.Text()
		}
	}
	text, err := json.Marshal(data)
	return engine.Fields{"good": true, "data": string(text)}, err
}
