package kiisha

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"
)

// A Passage is text of a document that stands together.
type Passage struct {
	Place string // as people cite it
	First bool   // it is on the first page, or at the beginning of the text
	Text  string
}

// A Kind is a kind of object that a document can be linked to, the wider first.
type Kind int

// The kinds.
const (
	Project Kind = iota
	Site
	Asset
)

// A Place is a project, a site or an asset of the caller's own.
type Place struct {
	Kind       Kind
	Name, Code string
	In         int // its index among the places: of a site its project, of an asset its site; of a project itself
}

// A Suggestion is a place for a document, with the reason.
type Suggestion struct {
	To         int     // an index among the places, or -1
	Confidence float64 // for machines; people are told the reason
	Reason     string  // TEXT or NAME; "" if nothing names a place
	Named      string  // what names it
	At         string  // where, of TEXT
	Also       string  // another project that is named, too
}

// Why a document may belong somewhere.
const (
	ByText = "TEXT"
	ByName = "NAME"
)

// The weight of a mention. A mention after the first page weighs less, and so does one in the name
// of the file, which somebody may have given to anything.
const (
	byCode  = 0.95 // UMZA-1
	byWhole = 0.85 // Kwale North
	byStem  = 0.80 // UMZA, if it is the beginning of only one project's code
	byTitle = 0.55 // Solar Park, which many texts say
	later   = 0.25
	inName  = 0.10
	apart   = 0.20 // the lead that one project needs over another
	shared  = 0.60 // the factor if two are named
)

// Suggest finds the place of a document by the names and codes of places. If two projects are named
// and neither clearly more, it suggests none and says which they are.
func Suggest(file string, text []Passage, places []Place) Suggestion {
	hits := make([]Suggestion, len(places))
	best := map[int]int{} // of each project that is named, the place that is named most clearly
	for i := range places {
		hits[i] = mention(file, text, places, i)
		if hits[i].Confidence == 0 {
			continue
		}
		p := projectOf(places, i)
		if b, ok := best[p]; !ok || hits[i].Confidence > hits[b].Confidence {
			best[p] = i
		}
	}
	var projects []int
	for p := range best {
		projects = append(projects, p)
	}
	slices.SortFunc(projects, func(a, b int) int {
		if hits[best[a]].Confidence != hits[best[b]].Confidence {
			return map[bool]int{true: -1, false: 1}[hits[best[a]].Confidence > hits[best[b]].Confidence]
		}
		return a - b
	})
	if len(projects) == 0 {
		return Suggestion{To: -1}
	}
	first := projects[0]
	s := hits[best[first]]
	s.To = narrowest(places, hits, first)
	if hits[s.To].Confidence > 0 {
		s.Named, s.At, s.Reason = hits[s.To].Named, hits[s.To].At, hits[s.To].Reason
	}
	if len(projects) > 1 {
		second := hits[best[projects[1]]]
		s.Also = second.Named
		if s.Confidence-second.Confidence < apart {
			s.To, s.Confidence = -1, 0
		} else {
			s.Confidence *= shared
		}
	}
	return s
}

func projectOf(places []Place, i int) int {
	for places[i].Kind != Project {
		i = places[i].In
	}
	return i
}

// narrowest returns the one asset of a project that is named, or the one site, or the project.
func narrowest(places []Place, hits []Suggestion, project int) int {
	for kind := Asset; kind > Project; kind-- {
		var named []int
		for i := range places {
			if places[i].Kind == kind && hits[i].Confidence > 0 && projectOf(places, i) == project {
				named = append(named, i)
			}
		}
		if len(named) == 1 {
			return named[0]
		}
		// Several assets of one site belong to that site.
		if len(named) > 1 && kind == Asset && !slices.ContainsFunc(named, func(i int) bool { return places[i].In != places[named[0]].In }) {
			return places[named[0]].In
		}
	}
	return project
}

// mention finds the clearest mention of a place.
func mention(file string, text []Passage, places []Place, i int) Suggestion {
	p := &places[i]
	found := Suggestion{To: i}
	look := func(in, name string, weight float64, reason, at string) {
		if weight > found.Confidence && name != "" && says(in, name) {
			found = Suggestion{To: i, Confidence: weight, Reason: reason, Named: name, At: at}
		}
	}
	whole := byWhole
	if p.Kind == Project {
		whole = byTitle
	}
	stem := ""
	if p.Kind == Project {
		if s := strings.FieldsFunc(p.Code, sign); len(s) > 1 && len(s[0]) >= 3 && !slices.ContainsFunc(places, func(o Place) bool {
			return o.Kind == Project && o.Code != p.Code && strings.HasPrefix(o.Code, s[0])
		}) {
			stem = s[0]
		}
	}
	all := func(in string, less float64, reason, at string) {
		look(in, p.Code, byCode-less, reason, at)
		look(in, p.Name, whole-less, reason, at)
		if stem != "" && !numbered(in, stem) {
			look(in, stem, byStem-less, reason, at)
		}
	}
	for _, t := range text {
		less := later
		if t.First {
			less = 0
		}
		all(tokens(t.Text), less, ByText, t.Place)
	}
	all(tokens(file), inName, ByName, "")
	return found
}

func sign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// tokens returns the words of a text in lower case, each between blanks.
func tokens(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), sign), " ") + " "
}

func says(in, name string) bool {
	t := tokens(name)
	return len(t) > 3 && strings.Contains(in, t)
}

// numbered reports that the word is always followed by a number: UMZA-7 is another code.
func numbered(in, word string) bool {
	t := tokens(word)
	for rest := in; ; {
		at := strings.Index(rest, t)
		if at < 0 {
			return true
		}
		if rest = rest[at+len(t)-1:]; len(rest) < 2 || !unicode.IsDigit(rune(rest[1])) {
			return false
		}
	}
}

//go:embed classes.txt
var classList string

// Classify returns the kind of a document, by words on its first page or in its name; OTHER if there
// are none, or if two kinds fit equally.
func Classify(file string, text []Passage) string {
	head := tokens(file)
	for _, t := range text {
		if t.First {
			head += tokens(t.Text)
		}
	}
	best, most, tie := "OTHER", 0, false
	for line := range strings.Lines(classList) {
		class, list, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n := 0
		for word := range strings.SplitSeq(list, "|") {
			n += min(strings.Count(head, tokens(word)), 3) * len(strings.Fields(word))
		}
		switch {
		case n > most:
			best, most, tie = class, n, false
		case n == most && n > 0:
			tie = true
		}
	}
	if tie {
		return "OTHER"
	}
	return best
}
