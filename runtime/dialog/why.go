package dialog

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/words"
)

// How an answer came about, told from what was recorded, in the language of whoever
// asks. What is kept with a turn is English, as all that operators read; calls, names
// and codes are what they are in any language.

// Why tells how the last answer came about, in the language that is spoken. It writes
// nothing where nothing was said yet.
func (c *Conversation) Why(w io.Writer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.turns) == 0 {
		return nil
	}
	_, err := io.WriteString(w, c.wording.why(c.turns[len(c.turns)-1]))
	return err
}

// A noted is a remark on a turn, or a refusal in it.
type noted struct {
	says words.Sentence
	of   []string
	why  *dsl.Diagnostic
}

// A ruled is a rule that asked.
type ruled struct {
	reason, by string
	said       string // in the language of the turn, of a reason that no palette has
	needs      []string
}

// note notes something. What there are no places for in the sentence are details for
// operators, which are English.
func (r *Turn) note(s words.Sentence, of ...string) {
	text := s.In(words.English, of...)
	for _, detail := range of[min(len(of), strings.Count(s[words.English], "{}")):] {
		text += ": " + detail
	}
	r.Notes = append(r.Notes, text)
	r.noted = append(r.noted, noted{says: s, of: of})
}

func (r *Turn) refused(ds dsl.Diagnostics) {
	for i := range ds {
		d := &ds[i]
		if text := whyRefused.In(words.English, d.Code, d.Summary); !slices.Contains(r.Notes, text) {
			r.Notes = append(r.Notes, text)
			r.noted = append(r.noted, noted{why: d})
		}
	}
}

func (r *Turn) rule(one ruled) {
	r.Rules = append(r.Rules, one.in(wording{tongue: words.English}))
	r.ruled = append(r.ruled, one)
}

// in is a rule in the words of a language.
func (r ruled) in(w wording) string {
	text := r.reason
	if w.tongue != words.English {
		if said, ok := w.reg.Says(w.language, r.reason); ok || r.said == "" {
			text = said
		} else {
			text = r.said
		}
	}
	role := func(name string) string {
		if w.tongue == words.English {
			return name
		}
		said, _ := w.reg.Says(w.language, name)
		return said
	}
	if len(r.needs) > 0 {
		all := make([]string, len(r.needs))
		for i, name := range r.needs {
			all[i] = role(name)
		}
		return w.say(whyAgreement, strings.Join(all, w.say(sayAnd)))
	}
	if r.by != "" {
		text += w.say(whyBy, role(r.by))
	}
	return text
}

// refusal is why something was refused.
func (w wording) refusal(d *dsl.Diagnostic) string {
	text := d.Summary
	if w.tongue != words.English {
		if own, ok := w.reg.Says(w.language, d.Summary); ok {
			text = own
		} else if means, ok := refusals()[d.Code]; ok {
			text = w.say(means)
		}
	}
	return w.say(whyRefused, d.Code, text)
}

// said quotes what somebody said, on one line.
func (w wording) saidSo(text string) string {
	if w.tongue == words.English {
		return fmt.Sprintf("%q", text)
	}
	return w.say(sayQuoted, oneLine(text))
}

func (w wording) rowsOf(n int) string {
	if n == 1 {
		return w.say(whyOneRow)
	}
	return w.say(whyRows, strconv.Itoa(n))
}

func (w wording) inPart(origin string) string {
	if origin == "" {
		return ""
	}
	return w.say(whyInPart, origin)
}

// outcome is what came of a proposal: what a model was told besides is English.
func (w wording) outcome(text string) string {
	for _, s := range [...]words.Sentence{whyWasAsked, whyWasDone} {
		if text == s.In(words.English) {
			return w.say(s)
		}
	}
	return text
}

// why tells how a turn came about.
func (w wording) why(r *Turn) string {
	var b strings.Builder
	width := 0
	for _, l := range whyLabels {
		width = max(width, len([]rune(l[w.tongue])))
	}
	line := func(what *words.Sentence, text string) {
		label := ""
		if what != nil {
			label = what.In(w.tongue)
		}
		fmt.Fprintf(&b, "%s%*s %s\n", label, max(10, width)-len([]rune(label)), "", oneLine(text))
	}
	line(&whyTurn, strconv.Itoa(r.Number)+", "+r.Time.UTC().Format("2006-01-02 15:04:05 UTC"))
	if r.Said != "" {
		line(&whySaid, w.saidSo(r.Said))
	}
	if r.Quoted != "" {
		line(&whyQuoted, w.saidSo(r.Quoted))
	}
	for _, c := range r.Read {
		line(&whyRead, w.say(whyFound, c.Call, w.rowsOf(c.Rows), w.inPart(c.From)))
	}
	if r.Phrase != "" {
		line(&whyMatched, w.say(whyPhrase, w.saidSo(r.Phrase)))
	}
	for _, p := range r.Proposed {
		if p.Script != "" {
			line(&whyProposed, strings.ReplaceAll(p.Script, "\n", " / "))
			line(nil, w.outcome(p.Outcome))
		} else {
			line(&whyProposed, w.say(whyNothing, p.Outcome))
		}
		if p.Says != "" {
			line(nil, w.say(whyOwnWords, w.saidSo(p.Says)))
		}
	}
	for _, t := range r.Resolved {
		if t.Words != "" {
			line(&whyResolved, w.say(whyFromWords, t.Text, w.saidSo(t.Words)))
		} else {
			line(&whyResolved, w.say(whyFrom, t.Text, w.source(t.Origin)))
		}
	}
	for _, c := range r.Calls {
		if c.Wrote > 0 {
			line(&whyDone, w.say(whyChanged, c.Call, w.rowsOf(c.Wrote)))
		} else {
			line(&whyDone, w.say(whyFound, c.Call, w.rowsOf(c.Rows), w.inPart(c.From)))
		}
	}
	for _, n := range r.NotUsed {
		line(&whyNotUsed, n)
	}
	for _, rule := range r.ruled {
		line(&whyRule, rule.in(w))
	}
	if r.Agreed != "" {
		line(&whyAgreed, w.say(whyTo, r.Agreed))
	}
	for _, c := range r.Withdrawn {
		line(&whyDeclined, c)
	}
	for _, c := range r.Replaced {
		kind := c.Kind
		if said, ok := claimKinds[kind]; ok {
			kind = w.say(said)
		}
		line(&whyReplaced, w.say(whyUnfounded, w.saidSo(c.Text), kind))
	}
	for i, n := range r.noted {
		if n.why != nil {
			line(&whyNote, w.refusal(n.why))
		} else {
			text := w.say(n.says, n.of...)
			if w.tongue == words.English {
				text = r.Notes[i]
			}
			line(&whyNote, text)
		}
	}
	for _, j := range r.Journal {
		line(&whyJournal, w.say(whyUpTo, strconv.FormatInt(j[0], 10), strconv.FormatInt(j[1], 10)))
	}
	m := r.Model
	if m.Calls == 0 {
		line(&whyModel, w.say(whyNone))
		return b.String()
	}
	name := m.Name
	if name == "" {
		name = w.say(whyNameless)
	}
	asked := w.say(whyOnce)
	if m.Calls > 1 {
		asked = w.say(whyTimes, strconv.Itoa(m.Calls))
	}
	line(&whyModel, w.say(whyAsked, name, m.Prompt, asked, strconv.Itoa(m.In), strconv.Itoa(m.Out)))
	return b.String()
}

// Explain tells how a turn came about, in English, as it is kept.
func (r *Turn) Explain(w io.Writer) error {
	_, err := io.WriteString(w, wording{tongue: words.English, language: words.English.String()}.why(r))
	return err
}

var (
	whyTurn     = words.Sentence{"turn", "Runde", "échange", "turno"}
	whySaid     = words.Sentence{"said", "gesagt", "dit", "dicho"}
	whyQuoted   = words.Sentence{"quoted", "zitiert", "cité", "citado"}
	whyRead     = words.Sentence{"read", "gelesen", "lu", "leído"}
	whyMatched  = words.Sentence{"matched", "passt zu", "reconnu", "reconocido"}
	whyProposed = words.Sentence{"proposed", "Vorschlag", "proposé", "propuesto"}
	whyResolved = words.Sentence{"resolved", "gemeint", "compris", "entendido"}
	whyDone     = words.Sentence{"done", "getan", "fait", "hecho"}
	whyNotUsed  = words.Sentence{"not used", "verworfen", "écarté", "descartado"}
	whyRule     = words.Sentence{"rule", "Regel", "règle", "regla"}
	whyAgreed   = words.Sentence{"agreed", "Ja zu", "accord", "acuerdo"}
	whyDeclined = words.Sentence{"declined", "abgelehnt", "refusé", "rechazado"}
	whyReplaced = words.Sentence{"replaced", "ersetzt", "remplacé", "cambiado"}
	whyNote     = words.Sentence{"note", "Hinweis", "remarque", "nota"}
	whyJournal  = words.Sentence{"journal", "Journal", "journal", "diario"}
	whyModel    = words.Sentence{"model", "Modell", "modèle", "modelo"}

	whyLabels = [...]words.Sentence{whyTurn, whySaid, whyQuoted, whyRead, whyMatched, whyProposed, whyResolved, whyDone, whyNotUsed, whyRule, whyAgreed, whyDeclined, whyReplaced, whyNote, whyJournal, whyModel}
)

var (
	whyPhrase    = words.Sentence{"the phrase {}", "der Satz {}", "la phrase {}", "la frase {}"}
	whyNothing   = words.Sentence{"nothing that can be used: {}", "nichts Brauchbares: {}", "rien d’utilisable : {}", "nada que se pueda usar: {}"}
	whyOwnWords  = words.Sentence{"in the model's own words: {}", "in den Worten des Sprachmodells: {}", "avec les mots du modèle : {}", "con las palabras del modelo: {}"}
	whyFromWords = words.Sentence{"{} from the words {}", "{} aus den Worten {}", "{} d’après les mots {}", "{} de las palabras {}"}
	whyFrom      = words.Sentence{"{} from {}", "{} (Quelle: {})", "{} (source : {})", "{} (fuente: {})"}
	whyChanged   = words.Sentence{"{}: {} changed", "{}: {} geändert", "{} : {} modifiées", "{}: {} cambiadas"}
	whyFound     = words.Sentence{"{}: {}{}", "{}: {}{}", "{} : {}{}", "{}: {}{}"}
	whyTo        = words.Sentence{"to {}", "{}", "{}", "{}"}
	whyUnfounded = words.Sentence{"the model said {}, a {} that no fact bears out", "das Sprachmodell sagte {}; das belegt keine Tatsache ({})", "le modèle a dit {} ; aucun fait ne le confirme ({})", "el modelo dijo {}; ningún hecho lo confirma ({})"}
	whyUpTo      = words.Sentence{"{} to {}", "{} bis {}", "{} à {}", "{} a {}"}
	whyNone      = words.Sentence{"none was asked", "es wurde keines gefragt", "aucun n’a été interrogé", "no se preguntó a ninguno"}
	whyAsked     = words.Sentence{"{}, prompt {}, asked {}, {} tokens in and {} out", "{}, Vorlage {}, {} gefragt, {} Token hinein und {} heraus", "{}, consigne {}, interrogé {}, {} jetons en entrée et {} en sortie", "{}, plantilla {}, preguntado {}, {} tokens de entrada y {} de salida"}
	whyNameless  = words.Sentence{"a model that gave no name", "ein Sprachmodell, das keinen Namen nennt", "un modèle qui n’a pas donné de nom", "un modelo que no dio nombre"}
	whyOnce      = words.Sentence{"once", "einmal", "une fois", "una vez"}
	whyTimes     = words.Sentence{"{} times", "{}-mal", "{} fois", "{} veces"}
	whyOneRow    = words.Sentence{"1 row", "1 Eintrag", "1 entrée", "1 entrada"}
	whyRows      = words.Sentence{"{} rows", "{} Einträge", "{} entrées", "{} entradas"}
	whyInPart    = words.Sentence{", in part from {}", "; zum Teil fremd ({})", " ; en partie d’un tiers ({})", "; en parte ajeno ({})"}
	whyBy        = words.Sentence{" (by {})", " (durch: {})", " (par : {})", " (por: {})"}
	whyAgreement = words.Sentence{"needs the agreement of {}", "braucht die Zustimmung von: {}", "demande l’accord de : {}", "necesita el acuerdo de: {}"}
	whyWasAsked  = words.Sentence{"asked", "gefragt", "demandé", "preguntado"}
	whyWasDone   = words.Sentence{"done", "getan", "fait", "hecho"}
	whyRefused   = words.Sentence{"refused[{}]: {}", "abgelehnt[{}]: {}", "refusé[{}] : {}", "rechazado[{}]: {}"}
)

// claimKinds are the kinds of claim.
var claimKinds = map[string]words.Sentence{
	"date":   {"date", "Tag", "date", "fecha"},
	"number": {"number", "Zahl", "nombre", "número"},
	"name":   {"name", "Name", "nom", "nombre"},
	"status": {"status", "Stand", "état", "estado"},
	"deed":   {"deed", "Tat", "acte", "acto"},
	"link":   {"link", "Verweis", "lien", "enlace"},
}

// What is noted of a turn.
var (
	noteRemark = words.Sentence{
		"it was taken for a remark, and not for an answer to what is being asked",
		"es wurde als Bemerkung verstanden und nicht als Antwort auf die Frage",
		"cela a été pris pour une remarque, et non pour une réponse à la question posée",
		"se tomó como un comentario y no como respuesta a lo que se pregunta"}
	noteMaybeRemark = words.Sentence{
		"it may be a remark, or the answer to what is being asked",
		"es kann eine Bemerkung sein oder die Antwort auf die Frage",
		"cela peut être une remarque, ou la réponse à la question posée",
		"puede ser un comentario o la respuesta a lo que se pregunta"}
	noteAnswered = words.Sentence{
		"it was taken for an answer to what is being asked",
		"es wurde als Antwort auf die Frage verstanden",
		"cela a été pris pour une réponse à la question posée",
		"se tomó como respuesta a lo que se pregunta"}
	noteOthers = words.Sentence{
		"it was written by somebody else",
		"jemand anderes hat es geschrieben",
		"quelqu’un d’autre l’a écrit",
		"lo escribió otra persona"}
	noteAutomatic = words.Sentence{
		"it is an automatic reply",
		"es ist eine automatische Antwort",
		"c’est une réponse automatique",
		"es una respuesta automática"}
	noteBadCorrection = words.Sentence{
		"it was taken for a correction of what waits, with a value that cannot be",
		"es wurde als Änderung dessen verstanden, was wartet, mit einem Wert, der nicht geht",
		"cela a été pris pour une correction de ce qui attend, avec une valeur impossible",
		"se tomó como un cambio de lo que espera, con un valor que no puede ser"}
	noteWhichCorrection = words.Sentence{
		"it was taken for a correction that may mean several things",
		"es wurde als Änderung verstanden, die mehreres bedeuten kann",
		"cela a été pris pour une correction qui peut vouloir dire plusieurs choses",
		"se tomó como un cambio que puede significar varias cosas"}
	noteCorrection = words.Sentence{
		"it was taken for a correction of what they were asked, or of what was done",
		"es wurde als Änderung dessen verstanden, was gefragt oder getan wurde",
		"cela a été pris pour une correction de ce qui était demandé, ou de ce qui a été fait",
		"se tomó como un cambio de lo que se preguntó o de lo que se hizo"}
	noteLetGo = words.Sentence{
		"what was asked back is not waited for any longer",
		"auf die Rückfrage wird nicht länger gewartet",
		"la question posée en retour n’est plus attendue",
		"ya no se espera respuesta a la pregunta"}
	noteStillOpen = words.Sentence{
		"what was asked back is still open",
		"die Rückfrage ist noch offen",
		"la question posée en retour reste ouverte",
		"la pregunta sigue abierta"}
	noteElsewhere = words.Sentence{
		"it was answered elsewhere",
		"es wurde anderswo beantwortet",
		"la réponse a été donnée ailleurs",
		"se respondió en otro lugar"}
	noteLost = words.Sentence{
		"the answer of the store was lost",
		"die Antwort des Speichers ging verloren",
		"la réponse de la base a été perdue",
		"se perdió la respuesta del almacén"}
	noteDeclined = words.Sentence{
		"the model declined to answer",
		"das Sprachmodell wollte nicht antworten",
		"le modèle de langage a refusé de répondre",
		"el modelo de lenguaje no quiso responder"}
	noteNoCalls = words.Sentence{
		"the model did not find calls that are allowed",
		"das Sprachmodell fand keine erlaubten Aufrufe",
		"le modèle n’a pas trouvé d’appels autorisés",
		"el modelo no encontró llamadas permitidas"}
	noteSteps = words.Sentence{
		"the turn has made as many steps as it may",
		"die Runde hat so viele Schritte gemacht, wie sie darf",
		"l’échange a fait autant d’étapes qu’il le peut",
		"el turno ha dado todos los pasos que puede"}
	noteAnswerBefore = words.Sentence{
		"it was taken for an answer to the question before",
		"es wurde als Antwort auf die Frage davor verstanden",
		"cela a été pris pour une réponse à la question précédente",
		"se tomó como respuesta a la pregunta anterior"}
	noteHeldUp = words.Sentence{
		"what waits was held up, and what they want instead was not understood",
		"was wartet, wurde angehalten; was stattdessen sein soll, wurde nicht verstanden",
		"ce qui attend a été suspendu ; ce qui est voulu à la place n’a pas été compris",
		"lo que espera quedó detenido; no se entendió qué se quiere en su lugar"}
	noteBeyond = words.Sentence{
		"it asks for something that no verb does",
		"es verlangt etwas, das hier nichts tut",
		"cela demande quelque chose que rien ne fait ici",
		"pide algo que aquí nada hace"}
	noteUnkept = words.Sentence{
		"this turn could not be kept",
		"diese Runde konnte nicht aufbewahrt werden",
		"cet échange n’a pas pu être conservé",
		"este turno no se pudo guardar"}
	noteFailed = words.Sentence{
		"the system failed",
		"das System hat versagt",
		"le système a échoué",
		"el sistema falló"}
	noteContext = words.Sentence{
		"the context {} could not be read",
		"der Zusammenhang {} konnte nicht gelesen werden",
		"le contexte {} n’a pas pu être lu",
		"el contexto {} no se pudo leer"}
	noteBrokeOff = words.Sentence{
		"the model broke off",
		"das Sprachmodell brach ab",
		"le modèle s’est interrompu",
		"el modelo se interrumpió"}
	noteAssumed = words.Sentence{
		"what was spoken of before was taken to be meant: {}",
		"gemeint ist wohl, wovon vorher die Rede war: {}",
		"il s’agit sans doute de ce dont il était question : {}",
		"se entendió lo que se mencionó antes: {}"}
	noteToolAfter = words.Sentence{
		"a tool was to be told something after somebody else's words were read",
		"einem anderen System sollte etwas mitgeteilt werden, nachdem Fremdes gelesen wurde",
		"un autre système devait recevoir quelque chose après la lecture d’un texte d’un tiers",
		"otro sistema iba a recibir algo después de leerse un texto ajeno"}
	noteUnasked = words.Sentence{
		"the model could not be asked",
		"das Sprachmodell konnte nicht gefragt werden",
		"le modèle n’a pas pu être interrogé",
		"no se pudo preguntar al modelo"}
)
