package words

import (
	"regexp"
	"strings"
	"sync"
)

// A Remark is what a message says about a question instead of answering it.
type Remark uint8

const (
	NoRemark     Remark = iota
	MaybeARemark        // it may be one, and may be the answer
	ARemark             // it is plainly one
)

// longestRemark is how many words a remark has at most; who tells more than that
// tells a story, which is an answer.
const longestRemark = 18

// ReadRemark tells whether what somebody says where they are asked for something
// in their own words is that, or a remark: that they do not know, that it is not
// the moment, a question of their own. It is plainly one only where little else can
// be meant; an answer that begins like one, and names no number, is MaybeARemark,
// and has to be asked about.
func ReadRemark(text string) Remark {
	text = strings.Join(strings.Fields(strings.NewReplacer("’", "'", "‘", "'").Replace(text)), " ")
	if text == "" || strings.Count(text, " ") >= longestRemark {
		return NoRemark
	}
	switch {
	case strings.HasSuffix(text, "?"):
		return ARemark
	case plainRemark().MatchString(text):
		if companyName().MatchString(text) { // "Warum Nicht Bar KG" is what somebody is called
			return MaybeARemark
		}
		return ARemark
	case !strings.ContainsAny(text, "0123456789") && likeRemark().MatchString(text): // "maybe 1998" says when
		return MaybeARemark
	}
	return NoRemark
}

// companyName ends as companies are called, and begins as a remark may.
var companyName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\pL .*\b(?:GmbH|AG|KG|OHG|UG|SE|SA|SAS|SARL|SCI|SL|SLU|SRL|Ltd|Inc|LLC|LLP|plc|PLC|BV|NV|Corp|Holdings?)\.?$`)
})

// bounded compiles an expression, when it is first used, in which \b is the end of a
// word of the Languages. The class of all letters would do as well, and make each of
// some hundred places large.
func bounded(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(strings.ReplaceAll(expression, `\b`, `(?:$|[^a-zß-ÿœ0-9])`))
	})
}

// plainRemark are messages that are remarks, in the Languages.
var plainRemark = bounded(`(?i)^\W*(?:` + strings.Join([]string{
	// I do not know
	`(?:sorry,? |hm+,? |well,? |but )?i(?:'m| am)(?: really)? not (?:quite |so |really |entirely )?(?:sure|certain)\b.*`,
	`(?:sorry,? |hm+,? |well,? )?i (?:really )?(?:don't|do not) (?:really |quite )?(?:know|understand|remember|have (?:that|it|this)(?: here| with me| at hand| to hand| right now| now| yet)*)\b.*`,
	`(?:sorry,? )?(?:i have )?no idea\b.*|not sure\b.*|(?:i have )?no clue\b.*`,
	`(?:das )?(?:weiß|weiss) ich (?:leider )?(?:nicht|gerade nicht|noch nicht)\b.*|ich (?:weiß|weiss) (?:es |das )?(?:leider |gerade )?nicht\b.*|(?:da )?bin ich (?:mir )?nicht sicher\b.*|ich bin (?:mir )?(?:da )?nicht (?:ganz )?sicher\b.*|keine ahnung\b.*|ich verstehe (?:das |die frage )?nicht\b.*|das habe ich (?:gerade |jetzt |hier )*nicht (?:hier|da|dabei|zur hand)\b.*`,
	`(?:désolée?,? )?je ne (?:le )?sais pas\b.*|je ne suis pas (?:tout à fait |très )?(?:sûre?|certaine?)\b.*|aucune idée\b.*|je n'en sais rien\b.*|je ne comprends pas\b.*|je ne l'ai pas (?:ici|sous la main|avec moi)\b.*`,
	`no (?:lo )?s[eé](?: (?:ahora|todavía|aún|muy bien|la verdad).*)?|no estoy (?:muy |del todo )?segur[oa]\b.*|ni idea\b.*|no (?:lo )?entiendo\b.*|no lo tengo (?:aquí|a mano|conmigo)\b.*`,
	// not now
	`(?:just )?(?:one|a|1) (?:moment|minute|second|sec)(?:,? please)?|(?:just )?(?:give|wait) (?:me )?(?:a|one) (?:moment|minute|second|sec)\b.*|hold on\b.*|hang on\b.*|not now\b.*|(?:maybe |perhaps )?later(?:,? please)?|let me (?:just )?(?:check|look|see|ask|think|find|get back)\b.*|i(?:'ll| will) (?:have to |need to )?(?:get back to you|check|look it up|find out)\b.*|i(?: will)? (?:have|need) to (?:check|look (?:it|that|this) up|ask|find out)\b.*`,
	`(?:einen |ein |nur einen )?(?:moment|augenblick)(?: mal)?(?:,? bitte)?|warten sie\b.*|(?:vielleicht )?später(?:,? bitte)?|(?:jetzt|gerade) nicht\b.*|(?:da|das) muss ich (?:erst |noch )?(?:nachsehen|nachschauen|nachfragen|fragen|suchen)\b.*|ich muss (?:das )?(?:erst |noch )?(?:nachsehen|nachschauen|nachfragen|fragen)\b.*|ich (?:sehe|schaue) (?:mal )?nach\b.*`,
	`(?:juste )?(?:un (?:petit )?(?:moment|instant)|une (?:petite )?(?:minute|seconde))(?:,? s'il (?:vous|te) pla[iî]t)?|attendez\b.*|(?:peut-être )?plus tard(?:,? s'il vous pla[iî]t)?|pas maintenant\b.*|je (?:dois|vais) (?:vérifier|regarder|demander|chercher)\b.*|laissez-moi (?:voir|vérifier|regarder|demander)\b.*`,
	`(?:solo )?un (?:momento|momentito|minuto|segundo)(?:,? por favor)?|espere?\b.*|(?:quizás |tal vez )?más tarde(?:,? por favor)?|ahora no\b.*|(?:tengo que|voy a|debo) (?:comprobar|mirar|preguntar|buscar)\w*\b.*|d[eé]jeme (?:ver|mirar|comprobar|preguntar)\b.*`,
	// a question of their own
	`(?:and |but |so )?why (?:is|are|do|does|did|should|must|would)\b.*|(?:can|could|may|shall|should|must|do|would) (?:we|i|you) .*|what (?:do|does|is|are|should|would) (?:you|that|this|i|we|it|the)\b.*|how (?:do|should|can|long|much|many|exactly) .*|(?:is|are|does|do) (?:this|that|it|you|these) .*`,
	`(?:und |aber )?(?:warum|wieso|weshalb|wozu) .*|(?:kann|können|könnten|muss|müssen|soll|sollen|darf|dürfen) (?:ich|wir|sie|man) .*|was (?:meinen|bedeutet|ist|heißt|soll|genau) .*|wie (?:meinen|soll|lange|viel|genau) .*|(?:ist|braucht|brauchen) (?:das|dies|es|man|sie) .*`,
	`(?:et |mais )?pourquoi\b.*|(?:est-ce que|est-ce|peut-on|pouvons-nous|puis-je|pouvez-vous|dois-je|devons-nous|faut-il)\b.*|(?:qu'est-ce|que voulez-vous|comment dois-je|comment faut-il)\b.*`,
	`(?:y |pero )?¿.*|(?:y |pero )?por qué\b.*|(?:podemos|puedo|puede|podría|podríamos|tengo que|debo|hace falta|es necesario)(?: .*)? (?:hacer|esto|eso|luego|después|más tarde|ahora|decir|explicar)\b.*|qué (?:quiere|significa|es)\b.*`,
	// what people say for the same in passing
	`(?:i )?(?:dunno|don'?t know|have no clue)\b.*|beats me|search me|(?:sorry,? )?i (?:can't|cannot|can not|don't|do not) (?:quite |really )?(?:remember|recall)\b.*|(?:sorry,? )?(?:can't|cannot|don't) (?:remember|recall)\b.*|(?:sorry,? )?i(?:'ve| have)? (?:forgot|forgotten|forget)\b(?:[^,]{0,20})|(?:i )?(?:don't|do not) have (?:it|that|this)\b.{0,30}|(?:it's|it is|that's|they're|i have it|i've got it) (?:at (?:home|the office|work)|not here)\b.*|i(?:'d| would) (?:have|need) to (?:look|check|ask|find|search)\b.*|(?:i'm|i am) (?:on (?:the|a|my) (?:train|bus|plane|phone|way|move)|driving|away|in a meeting|busy|travelling|out)\b.*|(?:please )?ask (?:me|my|him|her|them|our|the)\b.*|brb|bbl|gimme (?:a|one) (?:sec|second|min|minute|moment)|(?:just )?(?:one|a) (?:sec|min)|what(?:'s| is) (?:this|that|it)(?: for| about)?|what for|what|huh|eh|pardon|come again|none of your business|(?:i(?:'d| would) )?(?:rather|prefer)(?: to)? not(?: to)? (?:say|tell|answer|disclose)\b.*|i (?:don't|do not|won't|will not) (?:want to |wish to )?(?:say|tell you|answer|disclose)\b.*|(?:this|that|it)(?:'s| is) (?:too|so|very) (?:complicated|difficult|hard|long|much)\b.*|i (?:don't|do not|didn't) (?:get|follow) (?:it|that|this|you)\b.*|are you\b.*|skip (?:it|that|this)\b.*|i(?:'ve| have)? (?:already )?(?:told|sent|gave|given|said|answered)(?: you)?(?: (?:it|that|this|all))*(?: (?:already|before|last|yesterday|earlier|to you|in)\b.*)?|you(?:'ve)? (?:already )?(?:have|got) (?:it|that|this|all)\b.*|see (?:my|the) (?:earlier|previous|last|other)\b.*|sorry,? i was (?:away|busy|out)\b.*`,
	`(?:ich )?(?:weiß|weiss|weis) (?:ich )?(?:es |das )?(?:leider |grad |gerade |jetzt |auch |so )*(?:nicht|net|ned|nich)\b.*|k\.? ?a\.?|(?:ich habe? )?(?:kein(?:en)? (?:plan|schimmer|blassen(?: schimmer)?|dunst))\b.*|(?:da |das )?(?:müsste?|muss) ich (?:mal |erst |kurz |noch |erst noch |das |mal kurz )*(?:nachsehen|nachschauen|nachfragen|überlegen|fragen|suchen|klären|.{1,30} fragen)\b.*|ich (?:müsste|muss) .{0,40}(?:nachsehen|nachschauen|nachfragen|fragen|überlegen|suchen|klären)|muss (?:ich )?(?:kurz |erst |mal |noch )*(?:überlegen|nachdenken|nachsehen|nachschauen|suchen|fragen)\b.*|(?:das )?fällt mir (?:grad|gerade|jetzt|leider|momentan) nicht ein\b.*|(?:das |leider )?(?:habe?|hab) ich (?:leider |schon |ganz )?(?:vergessen|nicht (?:im kopf|mehr im kopf|parat|griffbereit))\b.{0,20}|(?:das )?(?:habe?|hab) ich (?:grad |gerade |jetzt |hier |leider )*nicht (?:da|hier|dabei|zur hand|parat)\b.*|(?:das |es )?liegt (?:zu ?hause|daheim|im büro)\b.*|(?:ich )?bin (?:grad |gerade |noch |jetzt )*(?:unterwegs|im (?:zug|auto|urlaub|meeting)|in (?:einer|der) (?:sitzung|besprechung)|beschäftigt|nicht da)\b.*|frag(?:en sie|t)? (?:mich|meinen|meine|ihn|sie|unseren|den)\b.*|gleich|sofort|sekunde(?:,? bitte)?|(?:kleinen|kurzen) (?:moment|augenblick)\b.*|(?:wozu|warum|wieso|weshalb)(?: das)?(?: denn)?|was (?:soll|heißt|heisst|bedeutet) das\b.*|was|wie bitte|hä+|(?:das )?geht sie nichts an\b.*|(?:das )?(?:möchte|will|sage|verrate) ich (?:ihnen |lieber )?nicht(?: sagen| verraten| beantworten| angeben)?\b.*|dazu (?:sage|möchte) ich nichts\b.*|(?:muss|soll) das (?:wirklich )?sein\b.*|(?:das ist|ist) (?:mir )?(?:zu|so|sehr) (?:kompliziert|schwierig|viel|lang|umständlich)\b.*|(?:ich )?(?:versteh|verstehe|kapier|kapiere|check|raff)(?: ich)?(?: das| die frage| es)? (?:nicht|net|ned)\b.*|bitte (?:erklären|erläutern)\b.*|erklären sie\b.*|sind sie\b.*|(?:das )?(?:habe?|hab) ich (?:ihnen )?(?:doch |schon |bereits |letzte woche |gestern )+(?:gesagt|geschickt|gesendet|angegeben|beantwortet)\b.*|das haben sie (?:doch |schon |bereits )+\b.*|(?:das |die frage )?überspringen\b.*|siehe (?:oben|meine)\b.*`,
	`(?:je |j'|ché |ch)?(?:n'|ne )?(?:sais|sait) (?:pas|plus)\b.*|j(?:e )?'?(?:sais|sait) (?:pas|plus)\b.*|chais pas\b.*|j'en sais rien\b.*|(?:je ne |je |j')?(?:m'en |me )?(?:souviens|rappelle) (?:pas|plus)\b.*|je ne (?:m'en|me) (?:souviens|rappelle)\b.*|je (?:m'en|me) (?:souviens|rappelle) (?:pas|plus)\b.*|(?:désolée?,? )?j'ai oublié\b.{0,20}|il (?:faut|faudrait) que (?:je|j') ?(?:regarde|demande|vérifie|cherche|voie|réfléchisse)\b.*|je (?:dois|devrais|vais devoir) (?:voir|regarder|demander|vérifier|chercher|réfléchir|consulter)\b.*|je (?:ne )?l'ai pas (?:ici|là|sur moi|avec moi|sous la main|en tête)\b.*|c'est (?:à la maison|chez moi|au bureau)\b.*|je suis (?:dans le (?:train|bus|métro)|en (?:route|voiture|réunion|déplacement|vacances)|occupée?|absente?)\b.*|demande[zr]?(?:-moi|-lui| à)\b.*|(?:une |deux |juste une |juste deux )?(?:petites? )?(?:minutes?|secondes?|instants?)(?:,? (?:svp|stp|s'il vous pla[iî]t))?|laisse[zr]?-moi (?:réfléchir|chercher|le temps|une minute)\b.*|à quoi (?:ça|cela) (?:sert|rime)\b.*|(?:ça|cela) veut dire quoi\b.*|c'est (?:quoi|pour quoi|pourquoi)\b.*|(?:ça|cela) ne vous regarde pas\b.*|je préfère ne pas (?:le )?(?:dire|répondre)\b.*|je ne (?:veux|souhaite) pas (?:le )?(?:dire|répondre)\b.*|c'est (?:vraiment )?(?:nécessaire|obligatoire|utile)\b.*|c'est (?:trop|bien|très) (?:compliqué|difficile|long)\b.*|(?:je n'|j')ai rien compris\b.*|je (?:ne )?comprends (?:pas|rien)\b.*|j'ai pas compris\b.*|hein|quoi|comment|pardon|(?:pouvez|pourriez|peux|voulez)[- ](?:vous|tu)\b.*|vous (?:pouvez|pourriez) (?:m')?(?:expliquer|préciser|répéter)\b.*|(?:vous êtes|êtes-vous|t'es) (?:un|une)\b.*|je (?:vous )?(?:l'ai|ai) (?:déjà )?(?:dit|envoyée?|donnée?|répondu|transmise?)\b.{0,30}|je vous l'ai (?:déjà )?\b.*|vous l'avez (?:déjà)?\b.*|passe[zr] (?:cette|la) question\b.*|voir (?:mon|ma|ci-dessus)\b.*`,
	`(?:pues )?(?:ni idea|no tengo (?:ni )?idea|no (?:lo |le )?sabría\b.*|no sabría (?:decirle|decirte)).{0,20}|no (?:me acuerdo|(?:lo )?recuerdo)\b.*|se me (?:olvidó|ha olvidado|pasó)\b.{0,20}|lo (?:he olvidado|olvidé)\b.{0,20}|(?:lo )?(?:tendría|tengo|debería) que (?:mirar|consultar|preguntar|comprobar|buscar|pensar|ver)\w*\b.*|(?:lo )?tengo que (?:pensarlo|consultarlo|mirarlo)\b.*|no lo tengo (?:aquí|a mano|conmigo|encima|delante)\b.*|lo tengo en (?:casa|la oficina)\b.*|(?:estoy|voy) (?:en (?:el|la|un|una) (?:tren|coche|bus|autobús|reunión|camino|oficina)|de (?:viaje|vacaciones)|conduciendo|ocupad[oa]|fuera)\b.*|pregúnt[ea](?:me|le)?(?: a| luego| después| más tarde)?\b.*|pregunt[ea] (?:a|luego|después|más)\b.*|(?:un |espere un |deme un |dame un |dame |deme )?(?:segund(?:o|ito)|moment(?:o|ito)|minut(?:o|ito)|rat(?:o|ito))(?:,? por favor)?|(?:dame|deme) un (?:minuto|segundo|momento|rato)\b.*|d[eé]j[ea]me (?:pensar|buscar|un)\w*\b.*|luego|después|ahora vuelvo|para qué(?: es| sirve| quiere)?\b.*|qué (?:quiere|quieres) decir\b.*|qué|cómo|eh|perdón|no es asunto (?:suyo|tuyo)\b.*|prefiero no (?:decirlo|contestar|responder|decir)\b.*|no (?:quiero|deseo) (?:contestar|responder|decirlo|decir)\b.*|es (?:realmente |de verdad |muy )?(?:necesario|obligatorio|imprescindible)\b.*|es (?:demasiado|muy) (?:complicado|difícil|largo)\b.*|no (?:he )?(?:entendido|entiendo|entendí)(?: nada)?\b.*|no (?:te|le|lo) entiendo\b.*|(?:puede|podría|puedes|podrías) (?:explicar|aclarar|repetir)\w*\b.*|(?:es usted|eres) (?:un|una)\b.*|ya (?:se lo|te lo|lo) (?:dije|he dicho|envié|he enviado|mandé)\b.*|ya (?:lo|la) (?:tienen|tiene|tienes)\b.*|lo (?:envié|mandé|he enviado) (?:ya|ayer|la semana|el mes|antes)\b.*|salt(?:e|a|ar) (?:esta|la) pregunta\b.*|vea mi\b.*`,
}, "|") + `)\W*$`)

// likeRemark are messages that may be remarks.
var likeRemark = bounded(`(?i)^\W*(?:` +
	`(?:sorry|well|hm+|um+|please|actually|maybe|perhaps|i think|i guess|i believe|i'll|i will|we'll|we will|i'd|i would|i can't|i cannot|we can't|why|what|how|when|who|which|you|ask|tell)\b|` +
	`(?:entschuldigung|bitte|vielleicht|ich glaube|ich denke|ich werde|ich würde|ich kann|warum|was|wie|wann|wer|welche[rsnm]?|sie|fragen)\b|` +
	`(?:pardon|désolée?|peut-être|je crois|je pense|je vais|je ne peux|je voudrais|quoi|quand|quel(?:le)?s?|comment|vous|demandez)\b|` +
	`(?:perdón|lo siento|quizás?|tal vez|creo|pienso|voy a|no puedo|quisiera|qué|cuándo|cómo|cuál|quién|usted|pregunte)\b` +
	`)|^\W*(?:` +
	`(?:(?:that|this|it)(?:'s| is) (?:private|personal|confidential|secret|complicated|difficult)|i (?:need|have) to|(?:only )?my [a-z]+ knows|can't|cannot)\b|` +
	`(?:(?:das|es) ist (?:privat|persönlich|vertraulich|geheim|kompliziert|schwierig)|ich muss|das weiß (?:nur )?(?:mein|meine|der|die)|kann ich|sage? ich)\b|` +
	`(?:c'est (?:privé|personnel|confidentiel|secret|compliqué|difficile)|c'est (?:ma|mon) .* qui sait|je (?:dois|vous)|je ne (?:peux|veux|vous))\b|` +
	`(?:(?:eso |esto )?es (?:privado|personal|confidencial|secreto|complicado|difícil)|eso lo sabe|no lo|se lo|primero|tengo que|a saber)\b` +
	`)|(?:^|[^a-zß-ÿœ0-9])(?:not sure|don't know|do not know|later|nicht sicher|weiß nicht|später|plus tard|pas sûre?|más tarde|no sé|(?:tell|send|give) (?:you|it)|dirai|sag (?:ich|es)|diré|dirá)\b`)
