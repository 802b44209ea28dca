package rights

import (
	"context"
	"strings"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/state/contact"
	"verbatim/stores"
	"verbatim/verbs"
)

// The ways to identify a person at an entrance: an identity that another system vouches for, a
// verified address, or a token.

func registerKnown(h *engine.Handlers, reg *verbs.Registry) {
	type identity struct {
		Principal engine.Ref `verb:"principal-id"`
		Issuer    string     `verb:"issuer"`
		Subject   string     `verb:"subject"`
		Status    string     `verb:"status"`
	}
	engine.Handle(h, "system.add-identity", func(_ context.Context, c *engine.Call, a identity) (engine.Outcome, error) {
		knownBy, err := Normalised(a.Issuer, a.Subject)
		if err != nil {
			next := "give one like clara@allianz.example"
			if a.Issuer != Mail {
				next = "give it with + and its country, like +352 26 12 34 56"
			}
			return engine.Outcome{}, engine.Refuse(err.Error(), next)
		}
		f := engine.Fields{"principal": a.Principal, "issuer": a.Issuer, "subject": a.Subject, "known_by": knownBy, "status": a.Status, "added_at": c.Now()}
		if a.Status == Verified {
			f["verified_at"], f["verified_by"] = c.Now(), c.Principal()
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Create("system-identity", f)}}, nil
	})

	type token struct {
		Principal engine.Ref `verb:"principal-id"`
		Name      string     `verb:"name"`
		Digest    string     `verb:"digest"`
		Audience  string     `verb:"audience"`
		Expires   time.Time  `verb:"expires-at"`
		Only      *string    `verb:"only"`
		Origin    string     `verb:"origin"`
	}
	engine.Handle(h, "system.add-token", func(_ context.Context, c *engine.Call, a token) (engine.Outcome, error) {
		if !a.Expires.After(c.Now()) {
			return engine.Outcome{}, engine.Refuse("it has expired already", "give a time that lies ahead")
		}
		f := engine.Fields{"principal": a.Principal, "name": a.Name, "digest": a.Digest, "audience": a.Audience, "expires_at": a.Expires, "origin": a.Origin, "added_at": c.Now()}
		if a.Only != nil {
			for _, name := range strings.Fields(*a.Only) {
				if reg.Verb(name) == nil {
					return engine.Outcome{}, engine.Refuse("there is no verb "+name, "verbatim explain lists them")
				}
			}
			f["only"] = strings.Join(strings.Fields(*a.Only), " ")
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Create("system-token", f)}}, nil
	})
}

// The kinds of identities besides those of other systems.
const (
	Mail          = "email"
	Phone         = "phone"
	WhatsAppPhone = "whatsapp_phone"
	WhatsAppID    = "whatsapp_id"
	SlackID       = "slack_id"
)

// Verified is the status of an identity that identifies a person.
const Verified = "VERIFIED"

// Normalised returns the compared form of an identity of a kind. An error tells a person the fault of
// the subject.
func Normalised(issuer, subject string) (string, error) {
	switch issuer {
	case Mail:
		return contact.Mail(subject)
	case Phone, WhatsAppPhone:
		number, err := contact.Phone(subject)
		return contact.FoldPhone(number), err
	}
	return subject, nil
}

// An Identity is an identity of a principal.
type Identity struct {
	Key       stores.Value
	Principal string
	// Heard is the time of its owner's last message from it, or of its verification.
	Heard time.Time
}

// IdentityOf finds the owner of a verified identity. It returns nil if nobody has it, and also if
// several people have it. No other function finds people by such evidence, and none compares less
// than a whole address.
func IdentityOf(ctx context.Context, reg *verbs.Registry, store stores.Store, issuer, subject string) (*Identity, error) {
	knownBy, err := Normalised(issuer, subject)
	if err != nil {
		return nil, nil // no identity was added under it
	}
	e := reg.Entity("system-identity").Store
	at := e.FieldIndex("principal")
	who := e.Fields[at].Ref
	f := stores.Find{Entity: e, Limit: 2, Last: true, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
		*is(e, "issuer", stores.NewString(issuer)), *is(e, "known_by", stores.NewString(knownBy)), *is(e, "status", stores.NewString(Verified))}},
		Select: []stores.Path{{Field: e.Key}, {Steps: []stores.Step{{Field: at, To: who}}, Field: who.FieldIndex("name")}, {Field: e.FieldIndex("heard_at")}, {Field: e.FieldIndex("verified_at")}}}
	var rows [][]stores.Value
	err = store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
		rows, err = r.Find(ctx, f)
		return err
	})
	if err != nil || len(rows) != 1 {
		return nil, err
	}
	id := &Identity{Key: rows[0][0], Principal: rows[0][1].Text()}
	for _, v := range rows[0][2:] {
		if !v.IsNull() && v.Time().After(id.Heard) {
			id.Heard = v.Time()
		}
	}
	return id, nil
}

// PrincipalOf returns the name of the principal with a verified identity, and "" if nobody has it.
func PrincipalOf(ctx context.Context, reg *verbs.Registry, store stores.Store, issuer, subject string) (name string, err error) {
	id, err := IdentityOf(ctx, reg, store, issuer, subject)
	if err != nil || id == nil {
		return "", err
	}
	return id.Principal, nil
}

// A Token is the record of a token.
type Token struct {
	Principal string
	Audience  string
	Expires   time.Time
	Only      []string // verbs; nil for all
	Script    bool     // no model writes what its program sends
}

// TokenOf returns the token with a digest, nil if there is none.
func TokenOf(ctx context.Context, reg *verbs.Registry, store stores.Store, digest string) (*Token, error) {
	e := reg.Entity("system-token").Store
	row, err := only(ctx, store, e, *is(e, "digest", stores.NewString(digest)))
	if err != nil || row == nil {
		return nil, err
	}
	t := &Token{Principal: row[len(e.Fields)].Text(), Audience: row[e.FieldIndex("audience")].Text(), Expires: row[e.FieldIndex("expires_at")].Time(), Script: row[e.FieldIndex("origin")].Text() == "SCRIPT"}
	if list := row[e.FieldIndex("only")]; !list.IsNull() && list.Text() != "" {
		t.Only = strings.Fields(list.Text())
	}
	return t, nil
}

// only finds a row that there is one of at most, and the name of its principal behind it.
func only(ctx context.Context, store stores.Store, e *stores.Entity, where stores.Cond) (row []stores.Value, err error) {
	at := e.FieldIndex("principal")
	who := e.Fields[at].Ref
	f := stores.Find{Entity: e, Where: &where, Limit: 1, Last: true}
	for i := range e.Fields {
		f.Select = append(f.Select, stores.Path{Field: i})
	}
	f.Select = append(f.Select, stores.Path{Steps: []stores.Step{{Field: at, To: who}}, Field: who.FieldIndex("name")})
	err = store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, f)
		if err == nil && len(rows) > 0 {
			row = rows[0]
		}
		return err
	})
	return row, err
}

// Deciders names those with a role who have a verified address of mail.
func Deciders(reg *verbs.Registry) func(context.Context, stores.Reader, string) ([]string, error) {
	t, err := tablesOf(reg)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, r stores.Reader, role string) (names []string, err error) {
		at := t.roles.FieldIndex("principal")
		whom := stores.Path{Steps: []stores.Step{{Field: at, To: t.principals}}, Field: t.principals.FieldIndex("name")}
		has, err := r.Find(ctx, stores.Find{Entity: t.roles, Where: is(t.roles, "role", stores.NewString(role)), Select: []stores.Path{{Field: at}, whom}})
		if err != nil || len(has) == 0 {
			return nil, err
		}
		keys, called := make([]stores.Value, len(has)), map[string]string{}
		for i, row := range has {
			keys[i], called[row[0].Text()] = row[0], row[1].Text()
		}
		e := reg.Entity("system-identity").Store
		at = e.FieldIndex("principal")
		found, err := r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{{Field: at}}, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
			*is(e, "issuer", stores.NewString(Mail)), *is(e, "status", stores.NewString(Verified)), {Op: stores.In, Path: stores.Path{Field: at}, Value: stores.NewList(keys...)}}}})
		for _, row := range found {
			names = append(names, called[row[0].Text()])
		}
		return names, err
	}
}

// AddressOf returns a principal's verified mail address, "" if they have none, and the language
// that they read.
func AddressOf(ctx context.Context, reg *verbs.Registry, store stores.Store, name string) (address, language string, err error) {
	e := reg.Entity("system-identity").Store
	who := e.Fields[e.FieldIndex("principal")].Ref
	step := []stores.Step{{Field: e.FieldIndex("principal"), To: who}}
	called := stores.Path{Steps: step, Field: who.FieldIndex("name")}
	f := stores.Find{Entity: e, Limit: 1, Cut: true, Select: []stores.Path{{Field: e.FieldIndex("subject")}, {Steps: step, Field: who.FieldIndex("language")}},
		Order: []stores.Order{{Path: stores.Path{Field: e.FieldIndex("subject")}}},
		Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{*is(e, "issuer", stores.NewString(Mail)), *is(e, "status", stores.NewString(Verified)), {Op: stores.Eq, Path: called, Value: stores.NewString(name)}}}}
	err = store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, f)
		if err == nil && len(rows) > 0 {
			address, language = rows[0][0].Text(), rows[0][1].Text()
		}
		return err
	})
	return address, language, err
}
