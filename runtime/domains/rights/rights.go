// Package rights manages rights: a palette of verbs that add principals, grant and revoke roles,
// and grant and revoke scopes. The engine runs them like any others, so that granting is permitted
// by a role, needs a second person's agreement if it gives much, and is journalled. So are the
// verbs that manage failed jobs.
//
//	reg, ds := load.Dir(files, load.Beside(rights.Source()))
//	rights.Register(handlers, reg)
//	engine, err := engine.New(reg, store, engine.Options{Handlers: handlers, People: engine.People{Authority: rights.Authority(reg)}})
//
// CreateAdministrators makes the first administrators, since nobody has a role that could.
//
// A principal who was added by these verbs has the rights that these verbs gave them, and no
// others. The rights of all others come from the store's own table of principals, which the person
// who sets a system up fills beforehand.
package rights

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/verbs"
)

//go:embed system.yaml
var palette string

// Administrator is the role that may call the verbs of the palette.
const Administrator = "administrator"

// realm is the key of the one row in the administrators' scope.
const realm = "all"

// Source returns the text of the palette.
func Source() *dsl.Source { return dsl.NewSource("system.yaml", palette) }

// The entities of the palette.
const (
	realms     = "system-realm"
	principals = "system-principal"
	roles      = "system-role"
	holds      = "system-hold"
	identities = "system-identity"
	tokens     = "system-token"
)

// high reports whether a role alone lets its holder do harm.
func high(role *verbs.Role) bool { return role.SeesAll || role.Keeps || role.Name == Administrator }

// Follow has the rows of the palette read and migrated by the names that roles and
// entities had before.
func Follow(reg *verbs.Registry) {
	t, err := tablesOf(reg)
	if err != nil {
		return
	}
	roles, entities := map[string]string{}, map[string]string{}
	for _, r := range reg.Roles() {
		if r.Was != "" {
			roles[r.Was] = r.Name
		}
	}
	for _, e := range reg.Entities() {
		if e.Store.Was != "" {
			entities[e.Store.Was] = e.Store.Name
		}
	}
	if len(roles) > 0 {
		t.roles.Fields[t.roles.FieldIndex("role")].WasCodes = roles
	}
	if len(entities) > 0 {
		t.holds.Fields[t.holds.FieldIndex("entity")].WasCodes = entities
	}
}

// Register adds what carries the verbs out.
func Register(h *engine.Handlers, reg *verbs.Registry) {
	type person struct {
		Name   string  `verb:"name"`
		Label  *string `verb:"label"`
		Person *string `verb:"person"`
	}
	type roleOf struct {
		Principal engine.Ref `verb:"principal-id"`
		Role      string     `verb:"role"`
	}
	type rowOf struct {
		Principal engine.Ref `verb:"principal-id"`
		Entity    string     `verb:"entity"`
		Key       string     `verb:"key"`
	}

	engine.Handle(h, "system.add-principal", func(ctx context.Context, c *engine.Call, a person) (engine.Outcome, error) {
		all, err := theRealm(ctx, c)
		if err != nil {
			return engine.Outcome{}, err
		}
		f := engine.Fields{"realm": all, "name": a.Name, "added_at": c.Now()}
		if a.Label != nil {
			f["label"] = *a.Label
		}
		if a.Person != nil {
			f["person"] = *a.Person
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Create(principals, f)}}, nil
	})

	type profile struct {
		Principal engine.Ref `verb:"principal-id"`
		Label     *string    `verb:"label"`
		Person    *string    `verb:"person"`
		Email     *string    `verb:"email"`
		Zone      *string    `verb:"zone"`
		Language  *string    `verb:"language"`
	}
	engine.Handle(h, "system.describe-principal", func(_ context.Context, _ *engine.Call, a profile) (engine.Outcome, error) {
		f := engine.Fields{}
		for name, v := range map[string]*string{"label": a.Label, "person": a.Person, "email": a.Email, "zone": a.Zone, "language": a.Language} {
			if v != nil {
				f[name] = *v
			}
		}
		if len(f) == 0 {
			return engine.Outcome{}, engine.Refuse("nothing is said of them", "give at least one of :label, :person, :email, :zone and :language")
		}
		if a.Zone != nil {
			if _, err := time.LoadLocation(*a.Zone); err != nil || *a.Zone == "" || *a.Zone == "Local" {
				return engine.Outcome{}, engine.Refuse("there is no such time zone", "name it by its place, such as Europe/Luxembourg")
			}
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Update(a.Principal, f)}}, nil
	})

	grant := func(wantHigh bool) func(context.Context, *engine.Call, roleOf) (engine.Outcome, error) {
		return func(ctx context.Context, c *engine.Call, a roleOf) (engine.Outcome, error) {
			role := reg.Role(a.Role)
			switch {
			case role == nil:
				return engine.Outcome{}, engine.Refuse("no palette declares such a role"+nearest(reg, a.Role), "verbatim explain lists the verbs, and who may use each")
			case high(role) && !wantHigh:
				return engine.Outcome{}, engine.Refuse("this role opens every row, or gives power over all rights", "system.grant-high-role gives it, once another administrator agrees")
			case !high(role) && wantHigh:
				return engine.Outcome{}, engine.Refuse("this role sees no more than what somebody holds", "system.grant-role gives it")
			}
			o := engine.Outcome{Changes: []engine.Edit{engine.Create(roles, engine.Fields{"principal": a.Principal, "role": role.Name})}}
			if role.Name != Administrator {
				return o, nil
			}
			return withRealm(ctx, c, o)
		}
	}
	engine.Handle(h, "system.grant-role", grant(false))
	engine.Handle(h, "system.grant-high-role", grant(true))

	engine.Handle(h, "system.revoke-role", func(ctx context.Context, c *engine.Call, a roleOf) (engine.Outcome, error) {
		has, err := c.Find(ctx, roles, engine.Fields{"principal": a.Principal, "role": a.Role})
		if err != nil {
			return engine.Outcome{}, err
		}
		if len(has) == 0 {
			return engine.Outcome{}, engine.Refuse("they do not have this role", "system.list-roles says who has which")
		}
		o := engine.Outcome{Changes: []engine.Edit{engine.Delete(has[0].Ref())}}
		if a.Role != Administrator {
			return o, nil
		}
		return withoutAdministrator(ctx, c, o)
	})

	engine.Handle(h, "system.end-principal", func(ctx context.Context, c *engine.Call, a struct {
		Principal engine.Ref `verb:"principal-id"`
	}) (engine.Outcome, error) {
		return end(ctx, c, a.Principal)
	})

	engine.Handle(h, "system.grant-scope", func(ctx context.Context, c *engine.Call, a rowOf) (engine.Outcome, error) {
		e := reg.Entity(a.Entity)
		if e == nil || len(e.Store.Scope) > 0 || e.Store.Access != stores.ByPath || a.Entity == realms {
			return engine.Outcome{}, engine.Refuse("rows of this kind cannot be held", "name an entity whose rows own themselves, with `scope: self` in its palette")
		}
		keys, err := c.Meant(ctx, e, a.Key)
		switch {
		case err != nil:
			return engine.Outcome{}, err
		case len(keys) == 0:
			return engine.Outcome{}, engine.Refuse("no row of this kind has this label, name or key", "give what people call it, once the row is there")
		case len(keys) > 1:
			return engine.Outcome{}, engine.Refuse("several rows of this kind are called that", "give the name with its end, as @name~suffix, or the key that the database has")
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Create(holds, engine.Fields{"principal": a.Principal, "entity": e.Store.Name, "held": keys[0].Text()})}}, nil
	})

	engine.Handle(h, "system.revoke-scope", func(ctx context.Context, c *engine.Call, a rowOf) (engine.Outcome, error) {
		has, err := c.Find(ctx, holds, engine.Fields{"principal": a.Principal, "entity": a.Entity, "held": a.Key})
		if e := reg.Entity(a.Entity); err == nil && len(has) == 0 && e != nil {
			var keys []stores.Value
			keys, err = c.Meant(ctx, e, a.Key)
			for i := 0; err == nil && i < len(keys); i++ {
				var of []engine.Row
				of, err = c.Find(ctx, holds, engine.Fields{"principal": a.Principal, "entity": a.Entity, "held": keys[i].Text()})
				has = append(has, of...)
			}
		}
		if err != nil {
			return engine.Outcome{}, err
		}
		if len(has) > 1 {
			return engine.Outcome{}, engine.Refuse("they hold several rows that are called that", "give the key, as system.list-scopes says it")
		}
		if len(has) == 0 {
			return engine.Outcome{}, engine.Refuse("they do not hold this row", "system.list-scopes says who holds what")
		}
		return engine.Outcome{Changes: []engine.Edit{engine.Delete(has[0].Ref())}}, nil
	})
	registerJobs(h)
	registerKnown(h, reg)
	registerStanding(h, reg)
}

// withoutAdministrator completes an outcome that takes an administrator's role, and refuses it for
// the last one.
func withoutAdministrator(ctx context.Context, c *engine.Call, o engine.Outcome) (engine.Outcome, error) {
	// The realm is read before the administrators are counted: a later removal of an
	// administrator changes the realm's row, and then this transaction is retried.
	o, err := withRealm(ctx, c, o)
	if err != nil {
		return engine.Outcome{}, err
	}
	all, err := c.Find(ctx, roles, engine.Fields{"role": Administrator})
	if err != nil {
		return engine.Outcome{}, err
	}
	if len(all) < 2 {
		return engine.Outcome{}, engine.Refuse("they are the last administrator, and nobody could make another", "make somebody else an administrator first, with system.grant-high-role")
	}
	return o, nil
}

// end takes from a principal all that lets them in or lets them do anything, and what is personal.
func end(ctx context.Context, c *engine.Call, who engine.Ref) (o engine.Outcome, err error) {
	row, err := c.Get(ctx, who)
	if err != nil {
		return o, err
	}
	o.Forgets = true
	administers := false
	for _, entity := range [...]string{roles, holds, identities, tokens, standing} {
		by := engine.Fields{"principal": who}
		if entity == standing {
			by = engine.Fields{"owner": row.Value("name").Text()}
		}
		has, err := c.Find(ctx, entity, by)
		if err != nil {
			return o, err
		}
		for _, r := range has {
			administers = administers || entity == roles && r.Value("role").Text() == Administrator
			o.Changes = append(o.Changes, engine.Delete(r.Ref()))
		}
	}
	o.Changes = append(o.Changes, engine.Update(who, engine.Fields{"label": nil, "email": nil, "zone": nil, "language": nil}))
	if administers {
		return withoutAdministrator(ctx, c, o)
	}
	return o, nil
}

func nearest(reg *verbs.Registry, role string) string {
	var names []string
	for _, r := range reg.Roles() {
		names = append(names, r.Name)
	}
	near := dsl.Nearest(role, slices.Values(names))
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + near[0] + "?"
}

func theRealm(ctx context.Context, c *engine.Call) (engine.Ref, error) {
	all, err := c.Find(ctx, realms, nil)
	if err != nil {
		return engine.Ref{}, err
	}
	if len(all) != 1 {
		return engine.Ref{}, engine.Refuse("nobody administers this store yet", "verbatim migrate --administrator NAME makes the first administrator")
	}
	return all[0].Ref(), nil
}

// withRealm marks the realm as changed. Two changes of who administers it meet
// at its row, so that the last two administrators cannot unmake each other.
func withRealm(ctx context.Context, c *engine.Call, o engine.Outcome) (engine.Outcome, error) {
	all, err := theRealm(ctx, c)
	if err != nil {
		return engine.Outcome{}, err
	}
	// Get locks the row until the end of the transaction, in a store with several writers.
	if _, err := c.Get(ctx, all); err != nil {
		return engine.Outcome{}, err
	}
	o.Changes = append(o.Changes, engine.Update(all, engine.Fields{"changed": c.Now()}))
	return o, nil
}

// Authority returns the function by which the engine reads a principal's rights from the palette's
// rows.
func Authority(reg *verbs.Registry) func(ctx context.Context, r stores.Reader, name string) (stores.Principal, bool, error) {
	t, err := tablesOf(reg)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, r stores.Reader, name string) (p stores.Principal, known bool, err error) {
		found, err := r.Find(ctx, stores.Find{Entity: t.principals, Where: is(t.principals, "name", stores.NewString(name)), Limit: 1})
		if err != nil || len(found) == 0 {
			return p, false, err
		}
		row := stores.Row{Entity: t.principals, Values: found[0]}
		p = stores.Principal{Name: name, Label: row.Values[t.principals.FieldIndex("label")].Text(), Holds: map[string][]stores.Value{}}
		if v := row.Values[t.principals.FieldIndex("person")]; !v.IsNull() {
			p.Person = v.Text()
		}
		has, err := r.Find(ctx, stores.Find{Entity: t.roles, Where: is(t.roles, "principal", row.Key()),
			Order: []stores.Order{{Path: stores.Path{Field: t.roles.FieldIndex("role")}}}})
		if err != nil {
			return p, false, err
		}
		for _, role := range has {
			name := role[t.roles.FieldIndex("role")].Text()
			if p.Roles = append(p.Roles, name); name == Administrator {
				p.Holds[realms] = []stores.Value{stores.NewString(realm)}
			}
		}
		held, err := r.Find(ctx, stores.Find{Entity: t.holds, Where: is(t.holds, "principal", row.Key())})
		if err != nil {
			return p, false, err
		}
		for _, hold := range held {
			of := reg.Entity(hold[t.holds.FieldIndex("entity")].Text())
			if of == nil {
				continue // no palette declares it any more
			}
			if key, ok := stores.Parse(of.Store.Fields[of.Store.Key].Kind, hold[t.holds.FieldIndex("held")].Text()); ok && of.Store.Name != realms {
				p.Holds[of.Store.Name] = append(p.Holds[of.Store.Name], key)
			}
		}
		return p, true, nil
	}
}

// Profile returns the function by which the engine reads a principal's personal data from the
// palette's rows.
func Profile(reg *verbs.Registry) func(context.Context, stores.Reader, string) (engine.Profile, error) {
	t, err := tablesOf(reg)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, r stores.Reader, name string) (engine.Profile, error) {
		rows, err := r.Find(ctx, stores.Find{Entity: t.principals, Where: is(t.principals, "name", stores.NewString(name)), Limit: 1})
		if err != nil || len(rows) == 0 {
			return engine.Profile{}, err
		}
		text := func(field string) string { return rows[0][t.principals.FieldIndex(field)].Text() }
		return engine.Profile{Label: text("label"), Email: text("email"), Zone: text("zone"), Language: text("language")}, nil
	}
}

// Rights returns the entities whose rows decide rights and identities: also those of principals,
// because the name of one is who has what the others give.
func Rights(reg *verbs.Registry) (all []*stores.Entity) {
	for _, name := range [...]string{principals, roles, holds, identities, tokens, standing} {
		if e := reg.Entity(name); e != nil {
			all = append(all, e.Store)
		}
	}
	return all
}

// Names lists everybody whom the palette's rows know, for completion.
func Names(ctx context.Context, reg *verbs.Registry, store stores.Store) ([]string, error) {
	t, err := tablesOf(reg)
	if err != nil {
		return nil, err
	}
	var names []string
	err = store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		name := stores.Path{Field: t.principals.FieldIndex("name")}
		rows, err := r.Find(ctx, stores.Find{Entity: t.principals, Select: []stores.Path{name}, Order: []stores.Order{{Path: name}}})
		for _, row := range rows {
			names = append(names, row[0].Text())
		}
		return err
	})
	return names, err
}

// ErrHasAdministrators says that there are administrators already, who make others.
var ErrHasAdministrators = errors.New("there are administrators already")

// CreateAdministrators makes the first administrators of a store, and journals it. Two of them can give each other
// the second agreement that further administrators need; so where there is one alone, it makes the second, be it of
// somebody who is known. It returns
// how many there are then, or ErrHasAdministrators if there are two, or if the names are theirs.
func CreateAdministrators(ctx context.Context, reg *verbs.Registry, store stores.Store, names []string, now time.Time, newID func() string) (there int, err error) {
	t, err := tablesOf(reg)
	if err != nil {
		return 0, err
	}
	err = store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		realms, err := tx.Find(ctx, stores.Find{Entity: t.realms, Limit: 1})
		if err != nil {
			return err
		}
		administer, err := tx.Find(ctx, stores.Find{Entity: t.roles, Where: is(t.roles, "role", stores.NewString(Administrator)), Limit: 2})
		if err != nil {
			return err
		}
		if len(administer) > 1 {
			return ErrHasAdministrators
		}
		var b stores.Batch
		told := 0 // number of changes in the entries
		insert := func(e *stores.Entity, key stores.Value, f map[string]stores.Value) stores.Value {
			c := stores.Change{Op: stores.Insert, Entity: e, Key: key}
			for i := range e.Fields {
				if v, ok := f[e.Fields[i].Name]; ok {
					c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
				}
			}
			b.Changes = append(b.Changes, c)
			return key
		}
		uuid := func() stores.Value {
			v, _ := stores.ParseUUID(newID())
			return v
		}
		all := stores.NewString(realm)
		if len(realms) == 0 {
			insert(t.realms, all, nil)
		}
		for _, name := range names {
			known, err := tx.Find(ctx, stores.Find{Entity: t.principals, Where: is(t.principals, "name", stores.NewString(name)), Limit: 1})
			if err != nil {
				return err
			}
			var who stores.Value
			switch {
			case len(known) == 0:
				who = insert(t.principals, uuid(), map[string]stores.Value{"realm": all, "name": stores.NewString(name), "added_at": stores.NewTime(now)})
			case slices.ContainsFunc(administer, func(row []stores.Value) bool {
				return row[t.roles.FieldIndex("principal")] == known[0][t.principals.Key]
			}):
				return ErrHasAdministrators
			default:
				who = known[0][t.principals.Key]
			}
			insert(t.roles, uuid(), map[string]stores.Value{"principal": who, "role": stores.NewString(Administrator)})
			call := dsl.NewCall("system.found", dsl.NewArg("administrator", dsl.NewString(name)))
			b.Entries = append(b.Entries, stores.Entry{Time: now, Principal: name, Source: "migrate", Verb: "system.found",
				Call: dsl.FormatCall(&call), Outcome: "ok", Palette: reg.Digest(), Changes: journal.Added(b.Changes[told:])})
			told = len(b.Changes)
		}
		there = len(administer) + len(names)
		return tx.Apply(ctx, b)
	})
	if errors.Is(err, stores.ErrDuplicate) {
		err = ErrHasAdministrators // somebody else did it at the same time
	}
	return there, err
}

type tables struct{ realms, principals, roles, holds *stores.Entity }

func tablesOf(reg *verbs.Registry) (tables, error) {
	var t tables
	for name, into := range map[string]**stores.Entity{realms: &t.realms, principals: &t.principals, roles: &t.roles, holds: &t.holds} {
		e := reg.Entity(name)
		if e == nil {
			return t, fmt.Errorf("the palettes hold no %s: they were loaded without the palette system", name)
		}
		*into = e.Store
	}
	return t, nil
}

func is(e *stores.Entity, field string, v stores.Value) *stores.Cond {
	return &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: e.FieldIndex(field)}, Value: v}
}
