// Package intent turns a person's message into calls, without a model and without a network: from
// the phrases that palettes give for their verbs, the words of the verbs themselves, the names that
// the session may use, and the dates, amounts and codes in the sentence.
//
//	index := intent.New(registry)                  // once for some palettes
//	reader := index.Reader(vocabulary)             // once for a turn
//	heard := reader.Read("I have Thomas's passport here.", in)
//	heard.Parts[0].Call                            // client.submit-document :request-id @thomas-muller-identity …
//	heard.Parts[0].Asks                            // what is still missing, and has to be asked
//
// It proposes and never decides: its result is text, which goes through the same check, the same
// rules and the same preview as any other. It proposes no verb that the session may not use and no
// name that it was not given, and where two verbs fit, or none does well, it says so instead of
// choosing. A message of several sentences may hold several calls.
//
// A dictated text is taken verbatim: the text after the colon of "leave a note on Pierre:" is the
// note, whatever the number of its sentences, and an order in it is not an order of the person. A
// message that could be read only in part, because it is longer than 32 KiB, 240 words outside such
// a text, or 12 sentences, is not read at all: Heard.Cut.
//
// An object whose schema depends on a code is filled if the sentence says all of it, and checked
// against the schema; otherwise the verb that asks for it question by question is proposed. A
// sentence that names no row leaves the row open, for a caller who knows the conversation: see
// Part.Suppose.
//
// Every value from the sentence comes with its place there, so that the program that shows the call
// can show the words of each part, and its origin is the person. An assumed value, such as the only
// row that there is, was said by nobody, and its origin is the script.
package intent

import (
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// A Vocabulary is the verbs and names that a session may use.
type Vocabulary struct {
	Verbs []*verbs.Verb
	// Names are the session's names for the rows of an entity.
	Names map[*verbs.Entity][]string
	// Tongue is the language of questions; nil uses that of each sentence.
	Tongue *values.Language
	// Say words the name of a row or a code in a language; it may be nil.
	Say func(l values.Language, what string) string
	// Usable filters the rows that an argument accepts, so that a question offers no others; it may
	// be nil.
	Usable func(v *verbs.Verb, p *verbs.Param, names []string) []string
	// Useful reports whether a verb can be used now; it may be nil. It is asked only about verbs
	// that a question would offer.
	Useful func(v *verbs.Verb) bool
	// Chosen is the verb that the person picked when asked which they mean. It is meant wherever
	// that question would come again.
	Chosen string
	// Given are the answers to questions about arguments. They fill arguments; the message itself is
	// read unchanged. The last answer for an argument counts.
	Given []Given
}

// Certainty says how sure the reading of a verb is.
type Certainty uint8

// The certainties.
const (
	// Nothing is understood.
	Nothing Certainty = iota
	// Unsure lists verbs for the person to choose from.
	Unsure
	// Sure names one verb.
	Sure
)

var certainties = [...]string{"nothing", "unsure", "sure"}

func (c Certainty) String() string { return certainties[c] }

// Heard is the reading of a message.
type Heard struct {
	Parts []Part // in order
	// Hidden says that the message has invisible characters; then nothing is proposed.
	Hidden bool
	// Cut says that the message is too long; then nothing is read.
	Cut bool
}

// A Given is an answer for an argument of a verb: a free text verbatim, anything else in words or
// as a call writes it.
type Given struct{ Verb, Param, Text string }

// A Part is one or more sentences with one meaning.
type Part struct {
	Range     values.Range
	Certainty Certainty
	// Verb is the verb that is meant, if Certainty is Sure.
	Verb *verbs.Verb
	// Ranked are the likeliest verbs in order, whatever the certainty.
	Ranked []Ranked
	// Confidence is the probability, from 0 to 1, that the first verb is meant; 0 if nothing is
	// understood. See Intent.
	Confidence float64
	// Phrase is the phrase of the palette that fits best.
	Phrase string
	// Call is the call in canonical text, "" if an argument must be asked for.
	Call string
	Args []Arg
	Asks []Ask

	// Refers is how the part refers to a row without naming it.
	Refers Reference
	// Near are the verbs that come nearest, if nothing is understood.
	Near []string

	call      dsl.Call
	guide     bool // it asks for what the object lacks
	reader    *Reader
	clauses   []*clause
	language  values.Language
	supposing *verbs.Param
	supposed  string
}

// A Ranked is a verb with a score from 0 to 1.
type Ranked struct {
	Verb  *verbs.Verb
	Score float64
}

// An Arg is an argument that was understood.
type Arg struct {
	Param *verbs.Param
	Value dsl.Value
	// Range is the place of the words in the message. It is empty if the value was not said: it is
	// the only row, was supposed, or follows from another.
	Range   values.Range
	Reading *values.Reading // of a date, an amount or a number
	// Follows is the name of the row that implies the value, if nobody said it.
	Follows string
	// Given says that it is one of Vocabulary.Given.
	Given bool
	// Beside is what the answer in Vocabulary.Given says besides the value.
	Beside string
}

// Said reports whether the person said it.
func (a *Arg) Said() bool { return a.Given || a.Range.End > a.Range.Start }

// Texts returns the free texts that a part has.
func (p *Part) Texts() (all []Given) {
	for i := range p.Args {
		if a := &p.Args[i]; freeText(a.Param) {
			all = append(all, Given{p.Verb.Name, a.Param.Name, a.Value.Text})
		}
	}
	return all
}

// Rows returns the rows in a part's arguments or, if it has no verb, the rows that it surely names:
// those that its likeliest verbs take.
func (p *Part) Rows() (all []string) {
	for i := range p.Args {
		if p.Args[i].Param.Type.Name == verbs.RefType {
			all = append(all, p.Args[i].Value.Text)
		}
	}
	for _, of := range p.Ranked {
		for i := range of.Verb.Params {
			e := of.Verb.Params[i].Type.Entity
			if p.Verb != nil || e == nil || p.reader.names[e] == nil {
				continue
			}
			f := p.reader.rowsIn(p.clauses[0], e)
			if len(f.names) == 1 && !slices.Contains(all, f.names[0]) && !p.reader.doubt(of.Verb, p.clauses[0], f) {
				all = append(all, f.names[0])
			}
		}
	}
	return all
}

// An Ask is a question that must be answered before there is a call.
type Ask struct {
	Param   *verbs.Param // nil if the question is about the verb
	Text    string       // in the person's language
	Choices []string     // as a call would write them, or so that they read as nothing else
	// Open says that no row was named, so that one mentioned before may be meant: see Part.Suppose
	// and Part.Refers.
	Open bool
	// Among are the rows that the words may mean, if there are several. The conversation may tell
	// which.
	Among []string

	says []string // the choices, as the question words them
}

// Dictated reports that the answer is free text: whatever comes next, after "leave a note on
// Pierre: …".
func (a *Ask) Dictated() bool { return a.Param != nil && freeText(a.Param) }

// Offers returns the choices as the question words them.
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
			said[i] = p.reader.does(values.English, v)
		}
	}
	return said
}

// Literals returns the origins of the values in a part's call: values that were said come from the
// person, assumed ones from nobody.
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

// Unknown is the intent of a message that is not understood.
const Unknown = "UNKNOWN"

// Intent returns the likeliest verb and its probability, or Unknown. An intent allows nothing: a
// verb counts as meant only if the part is Sure.
func (p *Part) Intent() (name string, confidence float64) {
	switch {
	case p.Verb != nil:
		return p.Verb.Name, p.Confidence
	case p.Certainty == Nothing || len(p.Ranked) == 0:
		return Unknown, 0
	}
	return p.Ranked[0].Verb.Name, p.Confidence
}
