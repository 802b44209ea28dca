package verbs

import (
	"maps"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

// A plan holds what the checker needs of a verb, laid out so that a call touches as little memory
// as possible: a palette may hold ten thousand verbs.
type plan struct {
	names     []string       // of the parameters, in order
	index     map[string]int // of the same, when there are too many to scan
	required  uint64         // bit i: Params[i] must be given
	defaulted uint64         // bit i: Params[i] has a default
	keeps     uint64         // bit i: Params[i] takes calls, and keeps them

	moves     bool   // the values that a parameter accepts depend on the current date
	sensitive bool   // a parameter is sensitive
	result    result // meaning of `@x` and `@x.field`
}

// Up to scanBelow names a linear scan is faster than a map.
const scanBelow = 12

// MaxParams is how many arguments a verb may declare: the size of a plan's bit sets.
const MaxParams = 64

// Functions returns the functions that the palettes declare, in order of their names.
func (r *Registry) Functions() []*Function { return r.functions }

// Excludes reports whether some verb excludes another in one script.
func (r *Registry) Excludes() bool { return r.excludes }

// Declarations are what palettes declare, in the order of their text.
type Declarations struct {
	Palettes  []*Palette // with their verbs
	Entities  []*Entity
	Codes     []*CodeList
	Roles     []*Role
	Schemas   []*Schema
	Functions []*Function // by name
	Says      map[Saying]string
	Digest    string // of everything that was read
}

// New joins declarations into a Registry. They must already be consistent, as package load makes
// them: New only indexes. The first declaration of a duplicate name counts.
func New(all Declarations) *Registry {
	says := all.Says
	r := &Registry{
		palettes:  slices.Clone(all.Palettes),
		functions: all.Functions,
		verbs:     make(map[string]*Verb),
		entities:  make(map[string]*Entity, len(all.Entities)),
		codes:     make(map[string]*CodeList, len(all.Codes)),
		roles:     make(map[string]*Role, len(all.Roles)),

		wasEntities: make(map[string]*Entity),
		wasRoles:    make(map[string]*Role),
		says:        says,
		digest:      all.Digest,
	}
	slices.SortStableFunc(r.palettes, func(a, b *Palette) int { return strings.Compare(a.Domain, b.Domain) })
	for _, e := range all.Entities {
		put(r.entities, e.Store.Name, e)
		if e.Store.Was != "" {
			put(r.wasEntities, e.Store.Was, e)
		}
	}
	for _, l := range all.Codes {
		l.index = make(map[string]int, len(l.Codes))
		for i, c := range l.Codes {
			put(l.index, c.Name, i)
			if c.Label != "" && says != nil {
				put(says, Saying{"en", c.Name}, c.Label)
			}
		}
		put(r.codes, l.Name, l)
	}
	for _, role := range all.Roles {
		put(r.roles, role.Name, role)
		if role.Was != "" {
			put(r.wasRoles, role.Was, role)
		}
	}
	for _, s := range all.Schemas {
		s.says = says
	}
	for _, p := range r.palettes {
		for _, v := range p.Verbs {
			if put(r.verbs, v.Name, v) {
				r.sorted = append(r.sorted, v)
			}
		}
	}
	slices.SortFunc(r.sorted, func(a, b *Verb) int { return strings.Compare(a.Name, b.Name) })
	for _, v := range r.sorted {
		r.excludes = r.excludes || len(v.Excludes) > 0
		v.plan = r.planOf(v)
		if v.Undo != nil && v.Undo.Back != nil {
			v.Undo.Back.plan = r.planOf(v.Undo.Back)
			put(r.verbs, v.Undo.Back.Name, v.Undo.Back)
		}
	}
	return r
}

func put[K comparable, V any](m map[K]V, name K, v V) bool {
	if _, taken := m[name]; taken {
		return false
	}
	m[name] = v
	return true
}

func (r *Registry) planOf(v *Verb) plan {
	p := plan{names: make([]string, len(v.Params)), result: r.resultOf(v)}
	if len(v.Params) > scanBelow {
		p.index = make(map[string]int, len(v.Params))
	}
	for i := range v.Params {
		param := &v.Params[i]
		p.names[i] = param.Name
		if p.index != nil {
			put(p.index, param.Name, i)
		}
		p.moves = p.moves || param.moves(v)
		if param.Sensitive {
			p.sensitive = true
			if r.sensitive == nil {
				r.sensitive = make(map[string]bool)
			}
			r.sensitive[param.Name] = true
		} else {
			if r.open == nil {
				r.open = make(map[string]bool)
			}
			r.open[param.Name] = true
		}
		if i < MaxParams {
			if param.Required {
				p.required |= 1 << i
			}
			if !param.Default.IsNull() {
				p.defaulted |= 1 << i
			}
			if param.Type.KeepsCalls() {
				p.keeps |= 1 << i
			}
		}
	}
	return p
}

// param finds a parameter by its name. Calls mostly name arguments in the
// order in which they are declared, so the search begins at hint.
func (p *plan) param(name string, hint int) int {
	if hint < len(p.names) && p.names[hint] == name {
		return hint
	}
	if p.index != nil {
		if i, ok := p.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.Index(p.names, name)
}

// Verb returns the verb of that full name, "client.add-note", or nil.
func (r *Registry) Verb(name string) *Verb { return r.verbs[name] }

// Verbs returns every verb, sorted by name. The slice must not be changed.
func (r *Registry) Verbs() []*Verb { return r.sorted }

// HasTool reports whether a verb calls a tool of that name: its server's and its own, with a dot.
func (r *Registry) HasTool(name string) bool {
	return slices.ContainsFunc(r.sorted, func(v *Verb) bool { return v.Tool != nil && v.Tool.Server+"."+v.Tool.Name == name })
}

// Palettes returns the palettes, sorted by domain. The slice must not be
// changed.
func (r *Registry) Palettes() []*Palette { return r.palettes }

// Palette returns the palette of a domain, or nil.
func (r *Registry) Palette(domain string) *Palette {
	for _, p := range r.palettes {
		if p.Domain == domain {
			return p
		}
	}
	return nil
}

// Entity returns the entity with a present or former name, or nil.
func (r *Registry) Entity(name string) *Entity {
	if e := r.entities[name]; e != nil {
		return e
	}
	return r.wasEntities[name]
}

// Entities returns every entity, sorted by name.
func (r *Registry) Entities() []*Entity { return sortedByName(r.entities) }

// CodeList returns the code list of that name, or nil.
func (r *Registry) CodeList(name string) *CodeList { return r.codes[name] }

// CodeLists returns every code list, sorted by name.
func (r *Registry) CodeLists() []*CodeList { return sortedByName(r.codes) }

// Role returns the role with a present or former name, or nil.
func (r *Registry) Role(name string) *Role {
	if role := r.roles[name]; role != nil {
		return role
	}
	return r.wasRoles[name]
}

// Formerly reports whether an entity has been renamed.
func (r *Registry) Formerly() bool { return len(r.wasEntities) > 0 }

// Roles returns every role, sorted by name.
func (r *Registry) Roles() []*Role { return sortedByName(r.roles) }

// Digest identifies everything that was read: registries with the same digest mean the same.
func (r *Registry) Digest() string { return r.digest }

// EntityOf returns the palettes' declaration of a stored entity.
func (r *Registry) EntityOf(e *stores.Entity) *Entity {
	if e == nil {
		return nil
	}
	return r.entities[e.Name]
}

func sortedByName[V any](m map[string]V) []V {
	names := slices.Sorted(maps.Keys(m))
	list := make([]V, len(names))
	for i, name := range names {
		list[i] = m[name]
	}
	return list
}

// Has reports whether the list holds a code, spelled exactly.
func (l *CodeList) Has(code string) bool {
	if len(l.Codes) > scanBelow && l.index != nil {
		_, ok := l.index[code]
		return ok
	}
	return slices.ContainsFunc(l.Codes, func(c Code) bool { return c.Name == code })
}

// Was maps former names of codes to present ones; nil if no code was renamed.
func (l *CodeList) Was() map[string]string {
	var was map[string]string
	for i := range l.Codes {
		if c := &l.Codes[i]; c.Was != "" {
			if was == nil {
				was = make(map[string]string)
			}
			was[c.Was] = c.Name
		}
	}
	return was
}

// Names returns the codes, in order.
func (l *CodeList) Names() []string {
	return message.Names(l.Codes, func(c Code) string { return c.Name })
}

// FromModels lists the arguments that a model may fill by itself: those whose `from` names model.
// That frees the value, and never the act.
func (r *Registry) FromModels() (names []string) {
	for _, v := range r.sorted {
		for i := range v.Params {
			if v.Params[i].From&FromModel != 0 {
				names = append(names, v.Name+" :"+v.Params[i].Name)
			}
		}
	}
	return names
}

// PhrasePlace returns the place of a phrase of the verb, in its palette or in a sidecar; the
// place of the verb, if it has no such phrase.
func (v *Verb) PhrasePlace(text string) dsl.Place {
	if i := slices.IndexFunc(v.PhrasePlaces, func(p dsl.Related) bool { return p.Message == text }); i >= 0 {
		return v.PhrasePlaces[i].Place
	}
	return v.Place
}

// ParamNamed returns the index of an argument by its name in palettes; a dash and an underscore are
// the same.
func (v *Verb) ParamNamed(name string) int {
	for i := range v.Params {
		if naming.Same(v.Params[i].Ident, name) {
			return i
		}
	}
	return -1
}

// Names returns the names of the arguments, in order.
func (v *Verb) Names() []string {
	return message.Names(v.Params, func(p Param) string { return p.Name })
}

// FieldNamed returns the index of a field by its name; a dash and an underscore are the same.
func (e *Entity) FieldNamed(name string) int {
	for i := range e.Store.Fields {
		if e.Store.Fields[i].Name == name {
			return i
		}
	}
	for i := range e.Store.Fields {
		if naming.Same(e.Store.Fields[i].Name, name) {
			return i
		}
	}
	return -1
}

// Names returns the names of the fields, in order.
func (e *Entity) Names() []string {
	return message.Names(e.Store.Fields, func(f stores.Field) string { return f.Name })
}

// Called returns the code with a stored value or a label.
func (l *CodeList) Called(word string) string {
	if l == nil {
		return ""
	}
	for i := range l.Codes {
		if c := &l.Codes[i]; word != "" && (!c.Value.IsNull() && c.Value.Text() == word || strings.EqualFold(c.Label, word)) {
			return c.Name
		}
	}
	return ""
}
