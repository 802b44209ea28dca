package words

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An Answer is what a person says to a question that wants a yes or a no.
type Answer uint8

// The answers.
const (
	// Other is everything that is not clearly one of those below: another
	// subject, a question, a quotation, words of somebody else.
	Other Answer = iota
	// Agree is a yes and nothing else.
	Agree
	// Decline is a no, or a never mind, and nothing else.
	Decline
	// Change is no plain answer, and holds the matter up or changes it: "no wait,
	// make it Friday", "yes, but not today".
	Change
	// Pleased is a word of approval, and no yes: "perfect". It says that somebody
	// likes what they were told. Where something hangs on a yes, they are asked
	// for one.
	Pleased
)

var answerNames = [...]string{"other", "agree", "decline", "change", "pleased"}

func (a Answer) String() string { return answerNames[a] }

// A Reply is an answer, and which of several questions it is to: counted from 1,
// -1 is the last, and 0 where it does not say. "The second one" is Other, and says
// which.
type Reply struct {
	Answer Answer
	Which  int
}

// A yes is a plain one or none. The whole of what a person says has to be words of
// agreeing, out of a closed list, and nothing else: "yes, do it now" is one, and
// "yes, but make it Friday" is none, because nobody knows what the words outside
// of the list do to it. Whoever says it in another way is asked again, which costs
// them a word; the other mistake would cost them what was asked about. People mix
// languages in an answer ("ok, danke"), so the lists are one.
var (
	agreeing = phrasesOf(
		"yes", "yeah", "yep", "yup", "ok", "okay", "sure", "sure thing", "agreed", "confirm", "confirmed", "i confirm", "i agree", "i do", "of course", "certainly", "absolutely", "definitely", "correct", "exactly",
		"go ahead", "do it", "do that", "do so", "please do", "yes do", "i accept", "accepted", "approve", "approved", "i approve", "that is correct", "that's correct", "that is right", "that's right", "go for it",
		"aye", "yea", "ye", "yup", "yeh", "yas", "yse", "eys", "ywes", "yess", "plz do", "pls do", "go", "go on", "go on then", "go right ahead", "by all means", "proceed", "please proceed", "you may", "you may do that", "you may do it", "yes you can", "yes you can do that", "yes you can do it", "yes you can go ahead",
		"okey", "okey dokey", "okie", "okie dokie", "okeydokey", "okidoki", "okidoke", "oki", "okis", "okee", "affirmative", "indeed", "yes indeed", "hell yes", "i am sure", "i'm sure", "i am certain", "all correct", "it is all correct", "everything is correct", "let's do it", "let us do it", "let's do that", "let's go", "yes let's", "sure why not",
		"you have my agreement", "you have my ok", "you have my consent", "i consent", "i'm happy for you to do that", "i am happy for you to do that", "i'm ok with that", "i am ok with that", "fine by me yes", "uh huh", "mhm", "mm hm", "totally", "for sure", "naturally", "without a doubt", "i authorise it", "i authorize it", "granted", "you bet", "you got it", "yes ma'am", "yes sir", "i'm certain",
		"ja", "jawohl", "jep", "klar", "na klar", "alles klar", "einverstanden", "bestätigt", "ich bestätige", "stimmt", "das stimmt", "genau", "richtig", "das ist richtig", "mach das", "mach es", "machen sie das", "machen sie es", "tu das", "tun sie das", "in ordnung", "das ist in ordnung",
		"ja gerne", "ja gern", "natürlich", "selbstverständlich", "auf jeden fall", "ich stimme zu", "ich bin einverstanden", "so ist es",
		"jo", "joo", "jup", "jop", "jepp", "jau", "jawoll", "jaa", "sicher", "aber sicher", "ganz sicher", "ich bin sicher", "ich bin mir sicher", "aber ja", "aber gern", "aber gerne", "sehr gern", "sehr gerne", "logisch", "freilich", "eh klar", "ist klar", "geht klar", "geht in ordnung", "das geht in ordnung", "das geht klar", "das ist ok", "das ist okay", "oke",
		"mach", "machen sie", "mach mal", "machen sie mal", "mach ruhig", "machen sie ruhig", "machen sie nur", "mach nur", "nur zu", "na los", "leg los", "legen sie los", "los geht's", "das können sie machen", "ja können sie machen", "ja kannst du machen", "das können sie so machen", "ja können sie gern machen", "ja können sie gerne machen", "so machen wir das", "so machen wir es", "machen wir", "machen wir so", "dürfen sie", "das dürfen sie", "sie dürfen",
		"stimmt alles", "alles stimmt", "alles richtig", "alles korrekt", "alles in ordnung", "korrekt", "das ist korrekt", "ist korrekt", "ist richtig", "ist in ordnung", "unbedingt", "zugestimmt", "dem stimme ich zu", "ich stimme dem zu", "bestätige ich", "das bestätige ich", "hiermit bestätige ich", "hiermit bestätige ich das", "ich bestätige das", "ich bestätige es", "bestätige", "genehmigt", "ich genehmige es", "meinen segen haben sie", "sie haben meine zustimmung", "sie haben mein einverständnis", "definitiv", "auf alle fälle", "jederzeit gern", "ja eh", "na gut ja", "ja doch",
		"oui", "ouais", "d'accord", "je confirme", "je suis d'accord", "confirme", "bien sûr", "entendu", "vas y", "allez y", "faites le", "fais le", "c'est correct", "c'est exact", "c'est juste", "c'est bon", "absolument", "exactement", "tout à fait",
		"ouaip", "ouip", "oué", "ui", "ouii", "dac", "d'acc", "dacc", "dacodac", "okay", "c'est d'accord", "je valide", "je le valide", "validé", "c'est validé", "validez", "je confirme tout", "je le confirme", "confirmé", "c'est confirmé", "confirmez", "je veux bien", "je le veux bien", "avec plaisir", "avec grand plaisir", "mais oui", "mais bien sûr", "bien entendu", "évidemment", "effectivement", "carrément", "naturellement",
		"tout est correct", "tout est juste", "tout est bon", "tout est exact", "c'est bien ça", "faites", "faites donc", "faites cela", "fais donc", "allons y", "on y va", "oui vous pouvez", "oui vous pouvez y aller", "oui vous pouvez le faire", "vous pouvez y aller", "oui tu peux", "oui tu peux y aller", "oui tu peux le faire", "tu peux y aller", "vous avez mon accord", "vous avez mon feu vert", "tu as mon accord", "accordé", "j'accepte", "accepté", "j'approuve", "approuvé", "j'autorise", "je vous autorise", "je vous y autorise", "je suis pour", "positif", "affirmatif", "ok pour moi", "c'est ok", "c'est ok pour moi", "bien volontiers", "sans hésiter", "sans aucun doute", "procédez", "je suis sûr", "je suis sûre", "je suis certain", "je suis certaine", "exact", "bon oui", "bon d'accord", "j'en suis sûr", "j'en suis sûre", "j'en suis certain", "j'en suis certaine", "faites cela",
		"sí", "vale", "de acuerdo", "confirmo", "estoy de acuerdo", "confirmado", "claro", "claro que sí", "por supuesto", "desde luego", "adelante", "hazlo", "hágalo", "correcto", "es correcto", "exacto", "así es", "eso es",
		"sip", "sipi", "siii", "dale", "dale nomás", "venga", "venga va", "órale", "órale pues", "ándale", "oká", "obvio", "obvio que sí", "por supuesto que sí", "desde luego que sí", "que sí", "pues sí", "pues claro", "con gusto", "con mucho gusto", "cómo no", "sin duda", "sin duda alguna", "ciertamente", "efectivamente", "exactamente", "eso mismo", "afirmativo", "naturalmente", "evidentemente", "lógico",
		"hágale", "hazle", "proceda", "procede", "prosiga", "siga adelante", "sigue adelante", "estoy seguro", "estoy segura", "lo confirmo", "confirmado", "lo apruebo", "aprobado", "apruebo", "acepto", "lo acepto", "aceptado", "lo autorizo", "autorizado", "tiene mi autorización", "tiene mi permiso", "tienes mi permiso", "tiene mi consentimiento", "todo correcto", "está todo correcto", "todo está correcto", "todo es correcto", "está correcto", "deacuerdo", "d acuerdo", "sí señor", "sí señora", "sí puede hacerlo", "sí puedes hacerlo", "sí lo puede hacer", "sí puede", "por mí sí", "por mi parte sí", "bueno sí", "sí hombre hágalo", "todo está bien",
	)
	refusing = phrasesOf(
		"no", "nope", "nah", "no way", "not ok", "not okay", "do not", "don't", "dont", "do not do it", "don't do it", "don't do that", "do not do that", "stop", "stop it", "cancel", "cancel it", "cancel that", "not now", "never", "never mind", "nevermind", "forget it", "forget about it",
		"i do not agree", "i don't agree", "i disagree", "i refuse", "reject", "rejected", "declined", "decline", "i decline", "rather not", "better not", "leave it", "leave it be", "please don't", "please do not", "absolutely not", "of course not", "certainly not", "definitely not",
		"nay", "noo", "nooo", "noooo", "nop", "negative", "i'd rather not", "i would rather not", "i'd prefer not to", "i would prefer not to", "not today", "not a chance", "no chance", "not in a million years", "not on your life", "don't you dare", "don't bother", "do not bother", "drop it", "scrap it", "scrap that", "abort", "abandon it", "do not send it", "don't send it", "do not send that", "don't send that", "do not submit it", "don't submit it", "don't send", "do not send", "do nothing", "don't do anything", "do not do anything",
		"i don't want that", "i do not want that", "i don't want to", "i do not want to", "i don't want it", "i do not want it", "i don't want this", "i don't", "i do not", "i changed my mind", "i've changed my mind", "i have changed my mind", "changed my mind", "i don't think so", "no need", "there is no need", "not necessary", "it's not necessary", "it is not necessary", "by no means", "under no circumstances", "no thanks", "i'd rather not do that", "i would rather not do that", "not doing that", "i don't need it", "i don't need that", "please cancel", "i say no", "i'd say no", "hell no", "please stop", "not interested", "i am against it", "i'm against it",
		"nein", "ne", "nee", "nicht", "lieber nicht", "besser nicht", "auf keinen fall", "keinesfalls", "nicht ok", "nicht okay", "nicht einverstanden", "nicht machen", "mach das nicht", "mach es nicht", "machen sie das nicht", "abbrechen", "brich ab", "brechen sie ab", "stopp", "halt", "lass es", "lassen sie es",
		"vergiss es", "vergessen sie es", "ich bin nicht einverstanden", "ablehnen", "abgelehnt", "ich lehne ab", "niemals", "nicht jetzt", "bitte nicht",
		"nö", "nöö", "nein nein", "neein", "neeein", "naa", "na lieber ned", "lieber ned", "lieber net", "eher nicht", "doch nicht", "lieber doch nicht", "dann doch nicht", "doch lieber nicht", "sicher nicht", "ganz sicher nicht", "bestimmt nicht", "gewiss nicht", "natürlich nicht", "heute nicht", "heute lieber nicht", "auf gar keinen fall", "auf keinsten", "bloß nicht", "ja nicht", "nur das nicht", "nie", "nie im leben", "nie und nimmer", "im leben nicht", "nix da", "kommt nicht in frage", "das kommt nicht in frage", "kommt nicht infrage", "das kommt nicht infrage", "unter keinen umständen", "keineswegs",
		"das will ich nicht", "ich will das nicht", "ich will nicht", "will ich nicht", "ich will es nicht", "das möchte ich nicht", "ich möchte das nicht", "ich möchte nicht", "möchte ich nicht", "das wollte ich nicht", "das mache ich nicht", "nicht nötig", "das ist nicht nötig", "ist nicht nötig", "nicht notwendig", "das ist nicht notwendig", "brauchts nicht", "braucht's nicht", "braucht es nicht", "das braucht es nicht", "brauche ich nicht", "das brauche ich nicht", "nicht erforderlich", "lass mal", "lassen sie mal", "lass das", "lassen sie das", "lass gut sein", "lassen sie es gut sein", "lassen wir das", "lassen wir es", "lass stecken", "ich habe es mir anders überlegt", "ich habe mir es anders überlegt", "ich hab's mir anders überlegt", "ich hab es mir anders überlegt", "hab's mir anders überlegt",
		"abbruch", "stornieren", "storno", "verwerfen", "nicht senden", "nicht abschicken", "nicht absenden", "nicht schicken", "nicht einreichen", "senden sie es nicht", "schicken sie es nicht", "schicken sie es nicht ab", "schick es nicht ab", "schick es nicht", "tu es nicht", "tun sie es nicht", "tun sie das nicht", "tu das nicht", "nichts tun", "tun sie nichts", "machen sie nichts", "bitte abbrechen", "danke nein", "nein danke", "ich sage nein", "ich verzichte", "ich bin dagegen", "dagegen", "vergessen sie das", "vergiss das", "mach ich nicht", "mache ich nicht", "keine lust", "kein bedarf",
		"non", "nan", "pas d'accord", "je ne suis pas d'accord", "pas maintenant", "pas du tout", "surtout pas", "annule", "annulez", "annuler", "arrête", "arrêtez", "jamais", "jamais de la vie", "ne le faites pas", "ne fais pas ça", "ne faites pas ça", "je refuse", "refuse", "pas question", "laisse tomber", "laissez tomber", "oublie", "oubliez",
		"non non", "noon", "nooon", "mais non", "ah non", "que non", "hors de question", "c'est hors de question", "il n'en est pas question", "certainement pas", "sûrement pas", "sûrement pas merci", "absolument pas", "bien sûr que non", "évidemment non", "évidemment pas", "bof non", "plutôt pas", "plutôt non", "pas la peine", "ce n'est pas la peine", "c'est pas la peine", "pas besoin", "pas nécessaire", "ce n'est pas nécessaire", "c'est pas nécessaire", "inutile", "c'est inutile", "je ne veux pas", "je veux pas", "je n'en veux pas", "je ne le veux pas", "je ne souhaite pas", "je ne le souhaite pas", "je préfère pas", "je ne préfère pas", "je préfère ne pas", "je préfère que non", "je préfère ne pas le faire", "je préférerais pas", "j'aime mieux pas",
		"laissez", "laisse", "laisse béton", "laissez ça", "laisse ça", "annulez tout", "annule tout", "annulez ça", "annule ça", "arrêtez tout", "n'envoyez rien", "n'envoyez pas", "n'envoie rien", "n'envoie pas", "ne l'envoyez pas", "ne l'envoie pas", "ne transmettez rien", "ne transmettez pas", "ne faites rien", "ne fais rien", "ne le fais pas", "ne faites pas cela", "j'ai changé d'avis", "finalement non", "finalement pas", "en fait non", "tout compte fait non", "pas aujourd'hui", "négatif", "refusé", "c'est non", "je dis non", "je suis contre", "en aucun cas", "pas pour moi", "sans façon", "je renonce", "je n'en ai pas besoin", "veuillez annuler", "ne faites rien du tout", "j'ai pas envie", "je n'ai pas envie", "pas envie",
		"no estoy de acuerdo", "mejor no", "ahora no", "cancela", "cancelar", "cancele", "para ya", "para por favor", "pare", "nunca", "no lo hagas", "no lo haga", "de ninguna manera", "en absoluto", "claro que no", "por supuesto que no", "déjalo", "déjelo", "olvídalo", "olvídelo", "rechazo", "rechazado",
		"nel", "nop", "noo", "que no", "pues no", "al final no", "mejor que no", "mejor así no", "prefiero que no", "preferiría que no", "prefiero no", "prefiero no hacerlo", "no quiero", "no lo quiero", "no quiero eso", "no lo deseo", "no deseo", "no acepto", "no lo acepto", "no autorizo", "no lo autorizo", "no hace falta", "no es necesario", "no es preciso", "para nada", "ni hablar", "ni pensarlo", "ni loco", "ni loca", "ni en sueños", "de eso nada", "nada de eso", "de ningún modo", "bajo ningún concepto", "en ningún caso", "en la vida", "jamás", "nunca jamás", "hoy no", "desde luego que no", "eso no", "negativo", "me niego",
		"déjalo así", "déjelo así", "deje nomás", "deje así", "déjalo estar", "no lo envíe", "no lo envíes", "no lo mande", "no lo mandes", "no envíe nada", "no envíes nada", "no mande nada", "no haga nada", "no hagas nada", "no haga eso", "no hagas eso", "cancélalo", "cancélelo", "anula", "anule", "anúlalo", "anúlelo", "detente", "deténgase", "detenlo", "he cambiado de idea", "he cambiado de opinión", "cambié de idea", "cambié de opinión", "lo he pensado mejor", "estoy en contra", "digo que no", "renuncio", "no lo necesito", "no me apetece", "no tengo ganas", "no necesito eso",
	)
	// approving likes what was shown, and is no yes to what is to be done.
	approving = phrasesOf(
		"perfect", "great", "fine", "that's fine", "good", "sounds good", "looks good", "that works", "works for me", "that suits me", "right", "all right", "alright", "very well",
		"cool", "nice", "nice one", "lovely", "excellent", "brilliant", "awesome", "fantastic", "wonderful", "super", "lgtm", "sounds great", "sounds fine", "looks great", "looks fine", "looks right", "looks good to me", "looks fine to me", "sounds good to me", "that's perfect", "that's great", "that's good", "that is perfect", "that is fine", "very good", "well done", "good job", "that would be great", "that would be good", "that would be nice", "that would be perfect", "fine by me", "fine with me",
		"perfekt", "super", "prima", "gut", "sehr gut", "passt", "das passt", "ja das passt", "stimmt so",
		"passt schon", "passt scho", "passt so", "passt gut", "das passt so", "top", "klasse", "toll", "spitze", "wunderbar", "hervorragend", "ausgezeichnet", "klingt gut", "klingt super", "das klingt gut", "hört sich gut an", "das hört sich gut an", "sieht gut aus", "das sieht gut aus", "sehr schön", "fein", "das ist gut", "ist gut", "ist perfekt", "das ist perfekt", "das wäre gut", "das wäre super", "das wäre schön", "das wäre toll",
		"parfait", "très bien", "bien", "ça marche", "ça me va", "ça me convient", "cela me convient", "c'est bien", "c'est ça", "volontiers",
		"ça roule", "ça roule pour moi", "nickel", "impeccable", "impec", "génial", "excellent", "c'est parfait", "c'est nickel", "c'est super", "ça me paraît bien", "ça me semble bien", "ça a l'air bien", "formidable", "magnifique", "chouette", "ça joue", "ça va", "sans problème", "sans souci", "ce serait super", "ce serait bien", "ce serait parfait", "pas de problème", "pas de souci",
		"perfecto", "genial", "muy bien", "está bien", "me parece bien", "me va bien", "sin problema", "conforme",
		"guay", "chévere", "estupendo", "fenomenal", "excelente", "buenísimo", "qué bien", "bien", "todo bien", "me parece perfecto", "me parece genial", "me parece correcto", "suena bien", "se ve bien", "bárbaro", "padre", "qué padre", "bacán", "sin problemas", "ningún problema", "no hay problema", "sería genial", "sería perfecto", "estaría bien", "sería estupendo",
	)
	// besides changes nothing of any of them.
	besides = phrasesOf(
		"please", "thanks", "thank you", "thank you very much", "many thanks", "cheers", "now", "right now", "right away", "at once", "immediately", "it", "that", "this", "that is", "that's", "it is", "it's", "is", "hi", "hello", "dear", "well", "so", "then", "oh", "ah",
		"bitte", "danke", "danke schön", "danke sehr", "vielen dank", "jetzt", "sofort", "gleich", "das", "es", "das ist", "ist", "so", "dann", "hallo", "gern", "gerne", "also",
		"merci", "merci beaucoup", "s'il vous plaît", "s'il te plaît", "svp", "stp", "maintenant", "tout de suite", "c'est", "alors", "bonjour", "ça", "cela",
		"por favor", "gracias", "muchas gracias", "ahora", "ahora mismo", "ya", "esta", "es", "eso", "entonces", "hola", "pues",
		"k", "pls", "plz", "thx", "ty", "thank you so much", "thanks a lot", "thanks so much", "much appreciated", "bidde", "bittschön", "bitte sehr", "bitte schön", "dankeschön", "dankesehr", "besten dank", "herzlichen dank", "merci bien", "mci", "s'il te plait", "s'il vous plait", "porfa", "por fa", "porfavor", "porfis", "mil gracias", "muchísimas gracias", "con permiso", "for me", "für mich", "pour moi", "para mí", "ma'am", "sir",
	)
	// turning makes no answer of what it stands in, and says that the matter is
	// not to go on as it is.
	turning = phrasesOf(
		"not", "no", "nope", "don't", "dont", "never", "wait", "hold", "hold on", "stop", "cancel", "instead", "change", "rather", "but", "unless", "except", "actually", "wrong", "mistake", "undo", "if", "i meant", "sorry i meant", "i mean",
		"nein", "nicht", "kein", "keine", "warte", "warten", "moment", "halt", "stattdessen", "ändern", "lieber", "aber", "falsch", "fehler", "doch", "sondern", "wenn", "falls", "außer", "ich meinte", "eigentlich",
		"non", "pas", "attends", "attendez", "plutôt", "changer", "changez", "mais", "faux", "erreur", "sauf", "annule", "annulez", "je voulais dire", "en fait",
		"espera", "espere", "cambia", "cambie", "cambiar", "mejor", "pero", "error", "mal", "salvo", "excepto", "cancela", "quería decir", "quise decir", "sino",
	)
	// idle sounds like a yes, and is none: it puts off, or mocks.
	idle = phrasesOf("ja ja", "jaja", "ja gut", "ja super", "ja toll", "ist ja gut", "ja ja ja", "na ja", "oui oui", "oui oui c'est ça", "oui oui bien sûr", "oui c'est ça oui", "ya ya", "sí sí claro", "sí claro claro", "yeah right", "yeah sure right", "sure sure", "yeah yeah", "ok ok", "okay okay", "bien bien", "fine fine", "great just great", "oh great", "oh super", "oh toll", "si hombre")
	// amiss says that what was shown is not right.
	amiss = phrasesOf("not that", "not this", "not it", "not that one", "not this one", "that's not it", "that is not it", "not so", "not like that", "nicht das", "nicht dies", "nicht dieses", "nicht so", "das nicht", "das ist es nicht", "so nicht", "pas ça", "pas cela", "ce n'est pas ça", "c'est pas ça", "pas comme ça", "no es eso", "no es", "eso no es", "no es así", "así no", "no así", "ese no", "esa no", "todavía no", "aún no", "not yet", "noch nicht", "pas encore")
	// deed says what is to be done, which agrees to nothing by itself: it may be
	// another thing that is to be done instead.
	deed = phrasesOf("send", "send it", "send that", "submit", "submit it", "submit that", "abschicken", "absenden", "senden", "einreichen", "schicken", "senden sie es", "senden sie es ab", "schicken sie es", "schicken sie es ab", "schick es ab", "schick es", "reichen sie es ein", "envoyez", "envoyez le", "envoyez la", "envoie", "envoie le", "envoie la", "transmettez", "transmettez le", "transmettez la", "soumettez", "soumettez le", "envíelo", "envíela", "envíalo", "envíala", "mándelo", "mándela", "mándalo", "mándala", "enviar", "preséntelo", "preséntala", "you can send it", "you may send it", "sie können es senden", "vous pouvez l'envoyer", "puede enviarlo", "puede mandarlo", "puedes enviarlo")
	// asking is what whoever asks says, and not who answers.
	asking    = phrasesOf("is that", "is it", "is this", "ist das", "ist es", "ist dies", "es eso", "es esto", "est ce", "please confirm", "please agree", "bitte bestätigen", "bitte bestätige", "merci de confirmer", "veuillez confirmer", "por favor confirme", "por favor confirma")
	ofSeveral = map[string]int{
		"1": 1, "one": 1, "first": 1, "eins": 1, "erste": 1, "ersten": 1, "erstes": 1, "premier": 1, "premiere": 1, "un": 1, "primero": 1, "primera": 1, "uno": 1,
		"2": 2, "two": 2, "second": 2, "zwei": 2, "zweite": 2, "zweiten": 2, "zweites": 2, "deuxieme": 2, "deux": 2, "segundo": 2, "segunda": 2, "dos": 2,
		"3": 3, "three": 3, "third": 3, "drei": 3, "dritte": 3, "dritten": 3, "troisieme": 3, "trois": 3, "tercero": 3, "tercera": 3, "tres": 3,
		"last": -1, "letzte": -1, "letzten": -1, "derniere": -1, "dernier": -1, "ultimo": -1, "ultima": -1,
	}
	// around an ordinal: "yes to the second one".
	around = phrasesOf("the", "to", "for", "number", "nr", "question", "option", "one", "of them", "st", "nd", "rd", "zu", "zur", "zum", "der", "die", "das", "den", "dem", "nummer", "frage", "le", "la", "les", "pour", "a", "au", "numero", "el", "al", "para", "pregunta", "opcion", "und", "and", "et", "y")
)

// Phrases find the longest phrase that begins at a word. Phrases are plain, see
// Plain. They are read when they are first asked for: a program that talks to
// nobody does not wait for them.
type phrases func() map[string][][]string

func phrasesOf(all ...string) phrases {
	return sync.OnceValue(func() map[string][][]string {
		l := map[string][][]string{}
		for _, p := range all {
			words := strings.Fields(Plain(p))
			l[words[0]] = append(l[words[0]], words)
		}
		for first := range l {
			slices.SortFunc(l[first], func(a, b []string) int { return len(b) - len(a) })
		}
		return l
	})
}

// at is how many words of a text, from word i on, are one of the phrases.
func (l phrases) at(words []string, i int) int {
	for _, p := range l()[words[i]] {
		if len(p) <= len(words)-i && slices.Equal(p, words[i:i+len(p)]) {
			return len(p)
		}
	}
	return 0
}

const (
	// longestAnswer is how many words an answer has at most, and longestReply
	// how many bytes are looked at: whoever says more says something else.
	longestAnswer = 14
	longestReply  = 64 << 10
)

// answerSigns are answers without words.
var answerSigns = map[string]Answer{"👍": Pleased, "✅": Pleased, "✓": Pleased, "✔": Pleased, "👌": Pleased, "🆗": Pleased, "👎": Decline, "❌": Decline}

// ReadAnswer reads the answer to a question that wants a yes or a no, in any of
// the Languages. It is strict: every word has to belong to a yes for it to be one.
// A yes with a question mark, in quotation marks, from a quoted message, with a
// condition or beside a no is none. A no is taken for one as strictly, since what
// is declined is not asked again.
func ReadAnswer(text string) Reply {
	if len(text) > longestReply {
		return Reply{}
	}
	if sign, ok := answerSigns[strings.TrimSpace(text)]; ok {
		return Reply{Answer: sign}
	}
	s := scan{text: text}
	s.divide()
	words := make([]string, 0, len(s.tokens))
	question, plain := false, true
	for i := range s.tokens {
		t := &s.tokens[i]
		plain = plain && !t.hidden
		switch t.mark {
		case 0:
			word := short(string(s.plain[t.from:t.to]))
			if word == "si" && ifClause(&s, i) {
				word = "if"
			}
			words = append(words, word)
		case '?', '¿':
			question = true
		case '.', ',', ';', ':', '!', '¡', '\'', '’', '‘', '-', '–', '—':
		default:
			plain = false // quoted, struck out, in brackets, or a sign
		}
	}
	return replyOf(words, question, plain)
}

// afterYes are words that follow a Spanish yes which is written without its accent
// and its comma. Before any other word, "si" is an if.
var afterYes = func() map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq("si claro por porfa porfavor gracias adelante hazlo hagalo dale venga exacto confirmo acepto a al la el los las ya ahora muchas de ok senor senora hombre") {
		all[w] = true
	}
	return all
}()

// ifClause reports whether a "si" begins a condition.
func ifClause(s *scan, i int) bool {
	if t := &s.tokens[i]; strings.EqualFold(s.text[t.start:t.end], "sí") || i+1 == len(s.tokens) || s.tokens[i+1].kind == markToken || i > 0 && string(s.plain[s.tokens[i-1].from:s.tokens[i-1].to]) == "que" {
		return false
	}
	next := &s.tokens[i+1]
	return !afterYes[string(s.plain[next.from:next.to])]
}

// drawnOut are words that people draw out: "nooo", "jaaa", "siii".
var drawnOut = regexp.MustCompile(`^(y+e+s+|n+o+|j+a+|n+e+i+n+|o+u+i+|n+o+n+|s+i+|o+k+|y+e+p+)$`)

// short is a word with each letter of it once, where it is one that is drawn out.
func short(word string) string {
	if !drawnOut.MatchString(word) {
		return word
	}
	return string(slices.Compact([]byte(word)))
}

// replyOf reads an answer out of its words.
func replyOf(words []string, question, plain bool) Reply {
	against := false
	for i := range words {
		if turning.at(words, i) > 0 || refusing.at(words, i) > 1 {
			against = true
		}
	}
	otherwise := Reply{}
	if against {
		otherwise.Answer = Change
	}
	if len(words) == 0 || len(words) > longestAnswer || question {
		// A long text is none, and a question asks.
		if question && against && turning.at(words, 0) == 0 {
			return Reply{}
		}
		return otherwise
	}
	if !plain {
		return otherwise
	}
	said := map[Answer]bool{}
	which, does := 0, false
	for i := 0; i < len(words); {
		yes, no, like := agreeing.at(words, i), refusing.at(words, i), approving.at(words, i)
		most := max(yes, no, like)
		n := 0
		switch {
		case asking.at(words, i) > max(yes, no):
		case amiss.at(words, i) > 0 && amiss.at(words, i) >= most:
			return Reply{Answer: Change}
		case idle.at(words, i) > most:
			return otherwise
		case deed.at(words, i) > most:
			n = deed.at(words, i)
			does = true
		case no > 0 && no >= yes && no >= like:
			n = no
			said[Decline] = true
		case yes > 0 && yes >= like:
			n = yes
			said[Agree] = true
		case like > 0:
			n = like
			said[Pleased] = true
		case ofSeveral[words[i]] != 0:
			o := ofSeveral[words[i]]
			switch {
			case which == 0:
				which, n = o, 1
			case which == o || words[i] == "one" || words[i] == "un" || words[i] == "uno":
				n = 1
			}
		default:
			n = max(besides.at(words, i), around.at(words, i))
		}
		if n == 0 {
			return otherwise // a word that is not known, or two of several
		}
		i += n
	}
	r := Reply{Which: which}
	switch {
	case said[Decline] && (said[Agree] || said[Pleased] || does):
		return Reply{Answer: Change}
	case said[Agree]:
		r.Answer = Agree
	case said[Decline]:
		r.Answer = Decline
	case said[Pleased]:
		r.Answer = Pleased
	}
	return r
}
