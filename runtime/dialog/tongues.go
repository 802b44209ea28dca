package dialog

import (
	"context"
	"strings"

	"verbatim/runtime/words"
)

// Whoever asks for a language is answered in it. What it is called is no courtesy by
// itself: it may well be the answer to a question of a palette.

// askedTongue is what people say who want to be spoken to in a language; {} is the
// place of its name.
var askedTongue = [len(words.Languages)]string{
	`(please )?((i (want|would like|d like|prefer|would prefer|d prefer) )?(to )?(speak|talk|write|go on|continue)( to you)?( in)?|(do|can|could) (you|we|i) (also )?(speak|talk|write|understand|answer|reply)( to me| me)?( in)?|(answer|reply|write)( to)?( me)? in|is it possible in|in) {}( as well| too| instead)?( please)?`,
	`(bitte )?((sprechen|verstehen|konnen) sie( auch)?|(sprichst|verstehst|kannst) du( auch)?|(kann|konnen|konnten) (ich|wir)( bitte| auch)?( auf)?|ich (mochte|wurde|will)( gern| gerne| lieber)?( auf)?|(antworten|schreiben) sie( mir)?( bitte)? auf|geht (es|das)( auch)? auf|(lieber )?auf) {}( sprechen| reden| schreiben| weitermachen)?( bitte)?`,
	`((parlez|comprenez) vous( aussi)?|vous parlez( aussi)?|tu parles|(pouvez vous|pourriez vous|pouvons nous|on peut|peut on|est ce qu on peut|je (voudrais|veux|prefere|prefererais|souhaite)) (parler|continuer|ecrire|repondre)( en)?|(repondez|ecrivez|parlez)( moi)?( en)?|en) (l )?{}( aussi)?( s il vous plait| svp)?`,
	`(por favor )?((habla|hablas|entiende|hablan)( usted| ustedes)?( tambien)?|(puede|puedes|podemos|podria|puedo|(yo )?(quiero|quisiera|prefiero)) (hablar|seguir|escribir|responder)( en)?|(responda|escriba|hable)(me)?( en)?|en) {}( tambien)?( por favor)?`,
}

// tonguesCalled are the languages, as each of them calls them; the last are those
// that are asked for and not spoken.
var tonguesCalled = [len(words.Languages)][]string{
	{"english", "german", "french", "(spanish|castilian)", "(italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic|chinese|mandarin|cantonese|japanese|korean|hindi|greek|czech|swedish|danish|norwegian|finnish|hungarian|romanian|hebrew|catalan|luxembourgish)"},
	{"englisch", "deutsch", "franzosisch", "spanisch", "(italienisch|portugiesisch|niederlandisch|hollandisch|polnisch|russisch|ukrainisch|turkisch|arabisch|chinesisch|japanisch|koreanisch|hindi|griechisch|tschechisch|schwedisch|danisch|norwegisch|finnisch|ungarisch|rumanisch|hebraisch|katalanisch|luxemburgisch)"},
	{"anglais", "allemand", "francais", "(espagnol|castillan)", "(italien|portugais|neerlandais|polonais|russe|ukrainien|turc|arabe|chinois|mandarin|japonais|coreen|hindi|grec|tcheque|suedois|danois|norvegien|finnois|hongrois|roumain|hebreu|catalan|luxembourgeois)"},
	{"ingles", "aleman", "frances", "(espanol|castellano)", "(italiano|portugues|neerlandes|holandes|polaco|ruso|ucraniano|turco|arabe|chino|mandarin|japones|coreano|hindi|griego|checo|sueco|danes|noruego|fines|hungaro|rumano|hebreo|catalan|luxemburgues)"},
}

// tongueAsked are the courtesies of those who ask for a language: one for each that
// is spoken, and one for all others.
func tongueAsked() (all []courtesy) {
	for n := range tonguesCalled[0] {
		var said [len(words.Languages)]string
		for l := range said {
			said[l] = strings.ReplaceAll(askedTongue[l], "{}", tonguesCalled[l][n])
		}
		answer := says(sayTongues)
		if n < len(words.Languages) {
			answer = func(t *turn, _ context.Context, w wording) (string, error) {
				return w.in(words.Languages[n].String()).say(sayInTongue), nil
			}
		}
		all = append(all, courtesy{polites(said[:]...), answer})
	}
	return all
}
