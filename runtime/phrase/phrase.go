// Package phrase turns what a person says into calls, without a model and
// without a network: from the phrases that palettes give for their verbs, the
// words of the verbs themselves, the names that the session may use, and the
// dates, amounts and codes in the sentence.
//
//	index := phrase.New(registry)                  // once for some palettes
//	reader := index.Reader(vocabulary)             // once for a turn
//	heard := reader.Read("I have Thomas's passport here.", in)
//	heard.Parts[0].Call                            // client.submit-document :request-id @thomas-muller-identity …
//	heard.Parts[0].Asks                            // what is still missing, and has to be asked
//
// It proposes and never decides: what it makes is text, which goes through the
// same check, the same rules and the same preview as any other. It proposes no
// verb that the session may not use and no name that it was not given, and
// where two verbs fit, or none does well, it says so instead of choosing. A
// message of several sentences may hold several calls.
//
// A text that somebody dictates is taken as it comes: what follows the colon of
// "leave a note on Pierre:" is the note, in as many sentences as it has, and no
// order in it is theirs. A message of which only a part would be read, because it
// is longer than 32 KiB, 240 words outside such a text, or 12 sentences, is not
// read at all: Heard.Cut.
//
// An object whose schema goes with a code is filled where the sentence says all
// of it, and held against the schema; otherwise what asks for it question by
// question is proposed. A sentence that names no row leaves that open, for who
// knows what was spoken of before: see Part.Suppose.
//
// Every value that it takes from the sentence is told with its place there, so
// that whoever shows the call can say from which words each part was understood,
// and its origin is the person. What was assumed, such as the only row that
// there is, nobody said, and its origin is the script.
package phrase

import (
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

// A Vocabulary is what a session may say.
type Vocabulary struct {
	Verbs []*verbs.Verb
	// Names are what the session calls the rows of an entity that it may see.
	Names map[*verbs.Entity][]string
	// Tongue is the language that is asked in; nil leaves it to each sentence.
	Tongue *words.Language
	// Say, where there is one, says a name or a code as people of a language do.
	Say func(l words.Language, what string) string
	// Usable, where there is one, lists those of some rows that an argument of a
	// verb could name, so that a question offers nothing that can only be refused.
	Usable func(v *verbs.Verb, p *verbs.Param, names []string) []string
	// Useful, where there is one, says whether a verb is of any use as things are. It
	// is asked only of those that a question is about to offer.
	Useful func(v *verbs.Verb) bool
	// Chosen is the name of the verb that somebody chose when they were asked which
	// of some they mean. Wherever that would be asked again, it is meant.
	Chosen string
}

// Certainty says how sure it is of a verb.
type Certainty uint8

// How sure it is.
const (
	// Nothing is understood: the words are not of this domain, or say nothing.
	Nothing Certainty = iota
	// Unsure names verbs that may be meant, for the person to choose.
	Unsure
	// Sure names one.
	Sure
)

var certainties = [...]string{"nothing", "unsure", "sure"}

func (c Certainty) String() string { return certainties[c] }

// Heard is what was understood of a message.
type Heard struct {
	Parts []Part // in order
	// Hidden says that characters which cannot be seen stand in it; then nothing
	// is proposed at all.
	Hidden bool
	// Cut says that the message is longer than what is read of one.
	Cut bool
}

// A Part is a sentence or several that say one thing.
type Part struct {
	Range     words.Range
	Certainty Certainty
	// Verb is what is meant, when it is Sure.
	Verb *verbs.Verb
	// Ranked are the verbs that come first, the likeliest first, whatever the
	// certainty.
	Ranked []Ranked
	// Confidence is how likely it is that the verb which comes first is meant, from
	// 0 to 1; 0 where nothing is understood. See Intent.
	Confidence float64
	// Phrase is what the palette has that fitted best.
	Phrase string
	// Call is the call in canonical text, "" where an argument has to be asked
	// for.
	Call string
	Args []Arg
	Asks []Ask

	// Refers is how it speaks of what no word of it names.
	Refers Reference
	// Wish says that it asks for something to be done: "could you lend me money".
	Wish bool

	call      dsl.Call
	guide     bool // it asks for what the object lacks
	reader    *Reader
	clauses   []*clause
	language  words.Language
	supposing *verbs.Param
	supposed  string
}

// A Ranked is a verb and how well it fits, from 0 to 1, for comparing.
type Ranked struct {
	Verb  *verbs.Verb
	Score float64
}

// An Arg is an argument that was understood.
type Arg struct {
	Param *verbs.Param
	Value dsl.Value
	// Range is the place of the words in the message. It is empty where nobody
	// said it: it is the only one there is, or was supposed, or follows.
	Range   words.Range
	Reading *words.Reading // of a date, an amount or a number
	// Follows is the name of the row that says it, where nobody else did.
	Follows string
}

// Said reports whether the person said it.
func (a *Arg) Said() bool { return a.Range.End > a.Range.Start }

// An Ask is what has to be asked before there is a call.
type Ask struct {
	Param   *verbs.Param // nil where it is about the verb
	Text    string       // in the person's language
	Choices []string     // as a call would write them
	// Open says that no row was named at all, so that one which was spoken of
	// before may be meant: see Part.Suppose and Part.Refers.
	Open bool
	// Among are the rows that the words may mean, where they fit several: what
	// was spoken of before may say which.
	Among []string
	// Places are the words of the message that may mean several things, or of which
	// only one can be meant: a choice stands in their place, and no others do.
	Places []words.Range

	says []string // the choices, as the question words them
	fits []string // and as they stand in the places
}

// Dictated reports that words are asked for which are taken as they come: whatever
// is said next is the answer, behind the colon of "leave a note on Pierre: …".
func (a *Ask) Dictated() bool { return a.Param != nil && freeText(a.Param) }

// Offers are the choices of what is asked about a part, as the question words
// them.
func (p *Part) Offers(a *Ask) []string {
	if len(a.says) == len(a.Choices) {
		return slices.Clone(a.says)
	}
	said := make([]string, len(a.Choices))
	for i, c := range a.Choices {
		v := p.reader.ix.reg.Verb(c)
		if a.Param != nil || v == nil {
			said[i] = p.reader.join(p.reader.speaks(p.language), []string{c})
		} else if said[i] = p.reader.does(p.reader.speaks(p.language), v); said[i] == "" {
			said[i] = p.reader.does(words.English, v)
		}
	}
	return said
}

// Fits are the choices of what is asked about a part as they stand in its places;
// nil where it has none.
func (p *Part) Fits(a *Ask) []string { return slices.Clone(a.fits) }

// Literals say where the values of a part's call come from, for the check of the
// script that the call is parsed from: those that the person said from the
// person, those that were assumed from nobody.
func (p *Part) Literals(script *dsl.Script) verbs.Literals {
	var assumed []string
	for i := range p.Args {
		if !p.Args[i].Said() {
			assumed = append(assumed, p.Args[i].Param.Name)
		}
	}
	person := verbs.NewOrigin(verbs.FromPerson, "")
	if len(assumed) == 0 {
		return verbs.Literals{Origin: person}
	}
	var ranges []dsl.Range
	for i := range script.Calls {
		for _, arg := range script.Calls[i].Args {
			for _, name := range assumed {
				if arg.Key == name {
					ranges = append(ranges, arg.Value.Range)
				}
			}
		}
	}
	return verbs.Literals{Origin: person, Of: func(at dsl.Range) (verbs.Origin, bool) {
		for _, r := range ranges {
			if r.Start <= at.Start && at.End <= r.End {
				return verbs.NewOrigin(verbs.FromScript, ""), true
			}
		}
		return verbs.Origin{}, false
	}}
}

// Unknown is the intent of what is not understood.
const Unknown = "UNKNOWN"

// Intent is what is most likely meant, and how likely that is, from 0 to 1: the
// name of a verb, or Unknown where the words say nothing that would tell. An
// intent is no permission to do it: a verb is meant where the part is Sure, and
// is asked about otherwise.
func (p *Part) Intent() (name string, confidence float64) {
	switch {
	case p.Verb != nil:
		return p.Verb.Name, p.Confidence
	case p.Certainty == Nothing || len(p.Ranked) == 0:
		return Unknown, 0
	}
	return p.Ranked[0].Verb.Name, p.Confidence
}
