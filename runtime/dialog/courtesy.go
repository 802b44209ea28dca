package dialog

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"verbatim/runtime/words"
	"verbatim/verbs"
)

// What people say to be polite, and how they are answered where no model does:
// in the language that they say it in.

var courtesies = [...]struct {
	said   *regexp.Regexp
	greets bool
	says   string // with the person's name, where they are greeted
}{
	{courtesy(`hi|hello|hey|hi there|hello there|good (morning|afternoon|evening|day)|greetings`), true, "Hello %s."},
	{courtesy(`hallo|guten (morgen|tag|abend)|moin|grüß gott|servus|grüezi`), true, "Guten Tag, %s."},
	{courtesy(`bonjour|bonsoir|salut|coucou`), true, "Bonjour %s."},
	{courtesy(`hola|buenos d[ií]as|buenas tardes|buenas noches|buenas`), true, "Hola, %s."},
	{courtesy(`((ok|okay|great|perfect|alright|good|fine),? )?((many )?thanks( a lot| so much| again)?|thank you( very much| so much)?|cheers)( (bye|goodbye))?|(good)?bye|bye bye|see you( later| soon)?|have a (nice|good) (day|evening|weekend)`), false, "You are welcome. Whatever you said and sent is kept."},
	{courtesy(`((ok|okay|gut|super),? )?(vielen dank|danke( schön| sehr)?|besten dank)|tschüss?|auf wiedersehen|bis (bald|später)|schönen (tag|abend)( noch)?|(vielen dank|danke( schön| sehr)?)[,.]? (und )?(tschüss?|auf wiedersehen|bis (bald|später))`), false, "Gern. Was Sie gesagt und geschickt haben, bleibt."},
	{courtesy(`((ok|parfait),? )?merci( beaucoup| bien)?|au revoir|à bientôt|bonne (journée|soirée)|merci( beaucoup| bien)?[,.]? (et )?(au revoir|à bientôt|bonne (journée|soirée))`), false, "Je vous en prie. Ce que vous avez dit et envoyé est conservé."},
	{courtesy(`((vale|perfecto),? )?(muchas )?gracias|adi[oó]s|hasta (luego|pronto)|buen día|(muchas )?gracias[,.]? (y )?(adi[oó]s|hasta (luego|pronto))`), false, "De nada. Lo que ha dicho y enviado se conserva."},
}

func courtesy(said string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W*(` + said + `)\W*$`)
}

// polite answers a message that is nothing but a courtesy. Whoever greets is told
// where they stand, by the first read that their palette has for it.
func (t *turn) polite(ctx context.Context) (string, bool, error) {
	for i := range courtesies {
		c := &courtesies[i]
		if !c.said.MatchString(t.heard.own) {
			continue
		}
		if !c.greets {
			return c.says, true, nil
		}
		text := fmt.Sprintf(c.says, t.c.o.Person)
		if len(t.c.context) == 0 {
			return text, true, nil
		}
		if outcome, err := t.carry(ctx, proposal{script: t.c.context[0].Name, phrased: true}); err != nil || outcome.wrong != "" {
			return text, true, err
		}
		return text + " " + t.facing(t.c.wording.told(t.found)), true, nil
	}
	return "", false, nil
}

// examples are what may be said, in the palettes' own phrases of the language:
// those of what is read to begin with, and of little else.
func (w wording) examples(first, all []*verbs.Verb) string {
	const most = 3
	var said []string
	for _, list := range [][]*verbs.Verb{first, all} {
		for _, v := range list {
			phrases := v.PhrasesIn[w.tongue.String()]
			if w.tongue == words.English {
				phrases = v.Phrases
			}
			for _, p := range phrases {
				if strings.Contains(p, "{") || len(said) == most {
					continue
				}
				if quoted := w.example(p); !slices.Contains(said, quoted) {
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
