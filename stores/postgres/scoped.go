package postgres

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"verbatim/stores"
)

// A scoped is a scope with everything that its transactions derive from it: the settings that
// policies read, and the arguments of conditions. It does not change.
type scoped struct {
	scope    stores.Scope
	settings []any // names and values in turn
	held     map[root]keysHeld
	// shape is the part of the scope that the text of statements depends on: for each root,
	// whether the scope holds no row, one row, or several.
	shape string
}

// A root is an entity that scopes hold rows of, and the kind of its key.
type root struct {
	name string
	kind stores.Kind
}

// keysHeld are the keys of a root that a scope holds: their number, the first, and all of them as
// one argument, so that a statement stays prepared however many there are.
type keysHeld struct {
	n   int
	one any
	all string
}

// newScoped copies a scope, so that later changes of it have no effect.
func newScoped(scope stores.Scope) *scoped {
	holds := maps.Clone(scope.Holds)
	for name, keys := range holds {
		holds[name] = slices.Clone(keys)
	}
	scope.Holds = holds
	sc := &scoped{scope: scope, held: map[root]keysHeld{}}
	all := "off"
	if scope.All {
		all = "on"
	}
	principal := strings.ReplaceAll(scope.Principal, "\x00", "")
	sc.settings = append(sc.settings, "verbatim.all", all, "verbatim.principal", principal)
	shape := all
	if principal != "" {
		shape += " known"
	}
	for _, name := range slices.Sorted(maps.Keys(holds)) {
		for _, kind := range heldKinds {
			keys := slices.DeleteFunc(fitting(holds[name], kind), func(k stores.Value) bool { return strings.Contains(k.Text(), "\x00") })
			if len(keys) == 0 {
				continue
			}
			h := keysHeld{len(keys), encode(keys[0]), array(keys)}
			sc.held[root{name, kind}] = h
			sc.settings = append(sc.settings, holdsSetting(name, kind), h.all)
			shape += " " + name + " " + kind.String() + " " + strconv.Itoa(min(2, h.n))
		}
	}
	sc.settings, sc.shape = slices.Clip(sc.settings), shape
	return sc
}

// is reports whether sc was made from an equal scope.
func (sc *scoped) is(scope stores.Scope) bool {
	return sc.scope.Principal == scope.Principal && sc.scope.All == scope.All &&
		maps.EqualFunc(sc.scope.Holds, scope.Holds, slices.Equal[[]stores.Value])
}

// scopes caches the scoped of recent principals.
type scopes struct {
	mu    sync.Mutex
	known map[string]*scoped
}

// mostScopes bounds the cache.
const mostScopes = 4096

// of returns the scoped of a scope.
func (s *scopes) of(scope stores.Scope) *scoped {
	s.mu.Lock()
	sc := s.known[scope.Principal]
	s.mu.Unlock()
	if sc != nil && sc.is(scope) {
		return sc
	}
	sc = newScoped(scope)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= mostScopes {
		s.known = make(map[string]*scoped)
	}
	s.known[sc.scope.Principal] = sc
	return sc
}

// fitting leaves out the keys that no column of the kind can hold. Keys read from a grant do not
// say whether they are text or numbers.
func fitting(keys []stores.Value, kind stores.Kind) []stores.Value {
	var fit []stores.Value
	for _, k := range keys {
		if k.Kind() != kind {
			var ok bool
			if k, ok = stores.Parse(kind, k.Text()); !ok {
				continue
			}
		}
		fit = append(fit, k)
	}
	return fit
}
