package values

import (
	"sync"
	"time"
)

// A Courtesy is what a message says that asks for nothing and answers nothing.
type Courtesy uint8

// The courtesies that ReadCourtesy knows.
const (
	NoCourtesy Courtesy = iota
	Parting             // "thanks, that was it, see you on Monday"
	Later               // "not now, I will get back to you after lunch"
	SmallTalk           // "hi, how are you?"
)

// courtesies are the phrases of each, by language.
var courtesies = sync.OnceValue(func() (all [SmallTalk + 1][]phrases) {
	for kind, key := range [...]string{Parting: "parting", Later: "later", SmallTalk: "smalltalk"} {
		for _, t := range ours().tongues {
			if key != "" {
				all[kind] = append(all[kind], phrasesIn(func() []string { return t.said[key] }))
			}
		}
	}
	return all
})

var (
	// mild words stand beside a courtesy and are none by themselves: "ok", "that was it".
	mild = phrasesOf("mild")
	// returning begins what people say of when they come back: "I will get back to you".
	returning = phrasesOf("returning")
)

// ReadCourtesy reads a message that is a courtesy and nothing else, and its language: each of its words
// belongs to one, is polite, or says the day of the next meeting.
func ReadCourtesy(text string) (is Courtesy, in Language) {
	s := scan{text: text}
	s.divide()
	var words []string
	var at []int // the token of each word
	for i := range s.tokens {
		if t := &s.tokens[i]; t.hidden {
			return NoCourtesy, 0
		} else if t.mark == 0 {
			words, at = append(words, string(s.plain[t.from:t.to])), append(at, i)
		}
	}
	if len(words) == 0 || len(words) > longestAnswer {
		return NoCourtesy, 0
	}
	days, _ := Find(text, In{Now: time.Unix(0, 0)}) // which day it is does not matter
	for i := 0; i < len(words); {
		n := max(besides.at(words, i), approving.at(words, i), mild.at(words, i))
		for kind := Parting; kind <= SmallTalk; kind++ {
			for l, p := range courtesies()[kind] {
				if k := p.at(words, i); k > n || k == n && k > 0 && is == NoCourtesy {
					n, is, in = k, kind, Language(l)
				}
			}
		}
		if k := returning.at(words, i); is == Later && k > 0 { // what follows says when
			for n = k; i+n < len(words) && at[i+n] == at[i+n-1]+1; n++ {
			}
		}
		for k := range days {
			for d := &days[k]; n == 0 && is == Parting && d.What == Date && i < len(words) && int(s.tokens[at[i]].start) == d.Range.Start; {
				for i+n < len(words) && int(s.tokens[at[i+n]].start) < d.Range.End {
					n++
				}
			}
		}
		if n == 0 {
			return NoCourtesy, 0
		}
		i += n
	}
	return is, in
}
