package dialog

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"verbatim/runtime/words"
	"verbatim/verbs"
)

// What people say to be polite, or to learn whom they speak with, and how they are
// answered where no model does: in the language that they say it in.

// A courtesy is what may be said and needs no palette, in each language, as
// words.Plain has it.
type courtesy struct {
	said   [len(words.Languages)]func() *regexp.Regexp
	answer func(*turn, context.Context, wording) (string, error)
}

var greetings = [len(words.Languages)]string{
	`hi there|hello there|hi|hello|hey|good (morning|afternoon|evening|day)|greetings`,
	`hallo|guten (morgen|tag|abend)|moin|gruss gott|servus|gruezi`,
	`bonjour|bonsoir|salut|coucou`,
	`hola|buenos dias|buenas tardes|buenas noches|buenas`,
}

// greeted is a message that begins with a greeting, and what follows it.
var greeted = lazily(`^(` + strings.Join(greetings[:], "|") + `) (.+)$`)

var courtesies = append([]courtesy{
	{polites(greetings[:]...), (*turn).greeted},
	{polites(
		after(`that( s| is| was| will be) (all|it)( for now| for today| then)?`, `thanks|thank you( very much| so much)?|many thanks`)+`|`+partly(`(ok|okay|great|perfect|alright|good|fine|that( s| is| was) all( for now| for today)?)`, `((many )?thanks( a lot| so much| again)?( for your help)?|thank you( very much| so much| again)?( for your help)?|cheers|much appreciated)`, `(and )?((good)?bye|bye bye|see you( later| soon)?|have a (nice|good) (day|evening|weekend))`),
		after(`das (war|ist|ware)( dann| fur heute| erst mal| erstmal)? alles( fur heute)?`, `(vielen |besten |herzlichen )?dank(e|e schon|e sehr|eschon)?`)+`|`+partly(`(ok|okay|gut|super|prima|das (war|ist)( dann)? alles)`, `((vielen|besten|herzlichen) dank|danke( schon| sehr| ihnen)?( fur (ihre|die) hilfe)?|dankeschon)`, `(und )?(tschu(ss|s)?|auf wiedersehen|bis (bald|spater|dann)|(einen )?schonen (tag|abend)( noch)?)`),
		after(`(c est|ce sera) tout( pour aujourd hui| pour le moment)?`, `merci( beaucoup| bien)?`)+`|`+partly(`(ok|parfait|super|tres bien|c est tout)`, `(merci( beaucoup| bien| a vous)?( pour votre aide)?)`, `(et )?(au revoir|a bientot|a plus( tard)?|bonne (journee|soiree))`),
		after(`(eso|esto) es todo( por hoy| por ahora)?`, `(muchas )?gracias`)+`|`+partly(`(ok|vale|perfecto|muy bien|eso es todo)`, `((muchas |mil )?gracias( por su ayuda)?)`, `(y )?(adios|hasta (luego|pronto|la vista)|que tenga (un )?buen dia|buen dia)`)), says(sayWelcome)},
	{polites(
		`(so )?what (can|do) (you|i) (do|say|ask)( here| for me| you)?|what are (you able to do|my options|the options)|how does (this|it) work|how do i use (this|it)|what can i (do|say|ask)( you)?( here)?`,
		`was (konnen sie|kannst du|kann ich)( hier)?( alles)?( fur mich)?( tun| machen| sagen| fragen)?|was geht hier|wie (funktioniert|geht) (das|es)( hier)?|wie benutze ich das`,
		`(qu est ce que vous pouvez|que pouvez vous|qu est ce que je peux|que puis je|tu peux) faire( ici| pour moi)?|que puis je (dire|demander)|comment ca marche|comment cela fonctionne( t il)?`,
		`(y )?que (puede|puedes|puedo) (hacer|decir|preguntar)( aqui| por mi)?|como funciona( esto)?`), (*turn).ableTo},
	{polites(
		`who are you|what are you|are you (a |an )?(real |live )?(human|person|robot|bot|machine|computer|ai|chatbot)( being)?|am i (talking|speaking|chatting) (to|with) (a |an )?(real |live )?(human|person|robot|bot|machine|computer|ai|chatbot)( being)?|is this (a |an )?(robot|bot|machine|computer|ai|chatbot)`,
		`wer (sind sie|bist du)|(sind sie|bist du|ist das|ist das hier) (ein |eine |echter |wirklich ein )?(mensch|roboter|bot|maschine|computer|ki|chatbot|echter mensch)|(spreche|rede|schreibe|chatte) ich (hier )?mit (einem |einer )?(echten )?(menschen|roboter|bot|maschine|computer|ki)`,
		`qui etes vous|vous etes qui|qui es tu|(etes vous|es tu|c est|vous etes) (un |une )?(vrai |vraie )?(humain|personne|robot|bot|machine|ordinateur|ia|chatbot)|(est ce que )?je parle (a|avec) (un |une )?(vrai |vraie )?(humain|personne|robot|bot|machine|ordinateur|ia)`,
		`quien (es usted|eres)|(es usted|eres|es esto) (un |una )?(humano|persona|robot|bot|maquina|ordenador|ia|chatbot)( real| de verdad)?|(estoy hablando|hablo) con (un |una )?(humano|persona|robot|bot|maquina|ordenador|ia)( real)?`), says(sayWhoIAm)},
}, tongueAsked()...)

func polites(said ...string) (all [len(words.Languages)]func() *regexp.Regexp) {
	for l := range all {
		all[l] = lazily(`^(` + said[l] + `)$`)
	}
	return all
}

// partly is what is made of parts that follow each other, of which the first is no
// thanks by itself.
func partly(before, thanks, leave string) string {
	return `(` + before + ` )?` + thanks + `( ` + leave + `)?|(` + before + ` )?` + leave
}

// after is what ends a conversation, with thanks before it.
func after(ends, thanks string) string { return `(` + thanks + `) (` + ends + `)` }

// polite answers a message that is nothing but a courtesy.
func (t *turn) polite(ctx context.Context) (string, bool, error) {
	c, l := courtesyIn(t.heard.own)
	if c == nil {
		return "", false, nil
	}
	text, err := c.answer(t, ctx, t.c.wording.in(l.String()))
	return text, true, err
}

// courtesyIn is the courtesy that a message is, whether or not it begins with a
// greeting, and in which language; nil where it is something else.
func courtesyIn(said string) (*courtesy, words.Language) {
	plain := words.Plain(said)
	for {
		for i := range courtesies {
			for _, l := range words.Languages {
				if courtesies[i].said[l]().MatchString(plain) {
					return &courtesies[i], l
				}
			}
		}
		m := greeted().FindStringSubmatch(plain)
		if m == nil {
			return nil, 0
		}
		plain = m[len(m)-1]
	}
}

func says(s words.Key) func(*turn, context.Context, wording) (string, error) {
	return func(_ *turn, _ context.Context, w wording) (string, error) { return w.say(s), nil }
}

// greeted tells whoever greets where they stand, by the first read that their
// palette has for it.
func (t *turn) greeted(ctx context.Context, w wording) (string, error) {
	text := w.say(sayHello, t.c.o.Person)
	if len(t.c.context) == 0 {
		return text, nil
	}
	if outcome, err := t.carry(ctx, proposal{script: t.c.context[0].Name, phrased: true}); err != nil || outcome.wrong != "" {
		return text, err
	}
	return text + " " + t.facing(t.left(t.found)), nil
}

// ableTo tells what may be said, by examples.
func (t *turn) ableTo(_ context.Context, w wording) (string, error) {
	const most = 8
	return w.say(sayAbleTo) + w.examples(most, t.c.context, t.c.o.Session.Verbs()), nil
}

// cannot tells that what was asked for is not done here, what is, and how a person is
// asked for.
func (t *turn) cannot() string {
	const few = 3
	w := t.c.wording
	text := w.say(sayCannot)
	if said := w.phrases(t.c.person, 1); len(said) > 0 {
		text += " " + w.say(sayAskPerson, said[0])
	}
	return text + w.examples(few, t.c.context, t.c.o.Session.Verbs())
}

// phrases are what may be said for a verb, as they stand, in the language.
func (w wording) phrases(v *verbs.Verb, most int) (said []string) {
	if v == nil {
		return nil
	}
	all := v.PhrasesIn[w.tongue.String()]
	if w.tongue == words.English {
		all = v.Phrases
	}
	for _, p := range all {
		if !strings.Contains(p, "{") && len(said) < most {
			said = append(said, w.example(p))
		}
	}
	return said
}

// examples are what may be said, in the palettes' own phrases of the language:
// those of what is read to begin with, and so many in all.
func (w wording) examples(most int, first, all []*verbs.Verb) string {
	var said []string
	for _, list := range [][]*verbs.Verb{first, all} {
		for _, v := range list {
			for _, quoted := range w.phrases(v, len(v.Phrases)+len(v.PhrasesIn[w.tongue.String()])) {
				if len(said) < most && !slices.Contains(said, quoted) {
					said = append(said, quoted)
					break
				}
			}
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " " + w.say(sayExamples, strings.Join(said, ", "))
}

func (w wording) example(phrase string) string {
	if w.tongue == words.English {
		return "“" + phrase + "”"
	}
	return w.say(sayQuoted, phrase)
}
