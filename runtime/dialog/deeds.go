package dialog

import (
	"slices"
	"strings"

	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// What a model says was done, or will be, is held against what was done in the
// turn: not whether anything was, but whether that was, and to those rows. "I have
// noted it for the boiler and cancelled the window" is one deed and one
// invention.

// A family of words says one kind of deed in several languages, by how the words
// begin. What a palette calls such a deed is said by calls: a verb has done it
// where one of them stands in its name, its description, a field that changed, or
// what that became. Its phrases are what people say who want it, and say more.
type family struct {
	says, calls []string
	notice      bool // whatever is told or sent to somebody is one
}

var families = []family{
	{says: []string{"cancel", "stornier", "abgesagt", "annul", "abgebrochen"}, calls: []string{"cancel", "void", "revoke", "withdraw"}},
	{says: []string{"delet", "remov", "eras", "gelosch", "entfern", "supprim", "efface", "elimin", "borrad"}, calls: []string{"delete", "remove", "erase", "drop", "take", "forget"}},
	{says: []string{"paid", "pay", "transferr", "transferid", "wired", "refund", "uberwies", "bezahl", "gezahlt", "erstattet", "vire", "rembours", "pagad", "reembols", "abonad"}, calls: []string{"pay", "paid", "transfer", "refund", "money", "payout"}},
	{says: []string{"sent", "send", "submit", "forward", "transmit", "mail", "upload", "gesendet", "geschickt", "ubermittel", "eingereicht", "weitergeleit", "envoy", "transmis", "soumis", "enviad", "presentad"}, calls: []string{"send", "submit", "forward", "mail", "file", "escalate", "report", "provide"}, notice: true},
	{says: []string{"told", "tell", "notif", "inform", "alert", "contact", "reach", "call", "remind", "ask", "escalat", "benachrichtig", "kontaktier", "erinner", "prevenu", "averti", "contacte", "rappel", "avisad", "notificad", "informad", "recordad"}, calls: []string{"tell", "notify", "remind", "ask", "escalate", "question", "report", "call"}, notice: true},
	{says: []string{"approv", "accept", "waiv", "agree", "confirm", "authori", "genehmig", "akzeptier", "bestatig", "approuv", "confirme", "aprobad", "aceptad", "confirmad"}, calls: []string{"approve", "accept", "waive", "agree", "confirm", "authorise", "authorize"}},
	{says: []string{"book", "schedul", "reserv", "order", "arrang", "gebucht", "bestellt", "reserve", "terminier", "commande", "planifi", "pedid", "programad"}, calls: []string{"book", "schedule", "reserve", "order", "plan", "appointment", "open"}},
	{says: []string{"chang", "correct", "updat", "geander", "aktualisier", "modifi", "corrig", "cambiad", "actualiz", "mise a jour", "mis a jour"}},
	// What says no more than that something was done.
	{says: []string{"done", "sav", "not", "record", "writ", "set", "made", "make", "put", "kept", "keep", "taken", "add", "creat", "enter", "log", "stor", "check", "look", "list", "receiv", "understood", "finish", "complet", "manag", "start", "handl", "settl", "sort", "resolv", "taken care", "all set", "in order", "fix", "consider", "everything",
		"gespeichert", "notier", "vermerk", "erledigt", "eingetragen", "aufgenommen", "geregelt", "geklart", "in ordnung", "abgeschlossen", "enregistr", "note", "fait", "ajout", "cree", "regle", "arrange", "en ordre", "termine", "fini", "guardad", "anotad", "registrad", "hech", "anadid", "cread", "resuelt", "arreglad", "list", "solucionad", "en orden", "terminad"}},
}

var (
	// implied says that something is done without saying who did it.
	implied = lazily(`(?i)\b(?:that|it|this|everything|all)(?:['’]s| is| are| was| has been)?(?: now| then| all| already)* (?:settled|sorted|arranged|resolved|taken care of|dealt with|handled|done|complete|completed|finished|in order|on its way|off the table|cancelled|canceled|paid|approved)\b` +
		`|\bconsider (?:it|that|this) (?:done|settled|\w+ed)\b|\b(?:you|we)(?:['’]re| are) all set\b|\beverything (?:set|done|sorted|taken care of)\b` +
		`|\b(?:das|es|alles|damit|somit)\b[^.?!\n]{0,30}\b(?:erledigt|geregelt|geklärt|in ordnung|abgeschlossen|vom tisch)\b` +
		`|\b(?:c['’]est|tout est|voilà qui est)\b[^.?!\n]{0,20}(?:réglé|arrangé|en ordre|terminé)` +
		`|\b(?:eso|todo|ya está|queda)\b[^.?!\n]{0,20}\b(?:resuelto|arreglado|listo|solucionado|en orden)\b`)
	// promised says that somebody will do something. Nobody does anything later
	// but what a palette has done later.
	promised = lazily(`(?i)\b(?:i|we)(?:['’]ll| will| shall|['’]m going to| am going to|['’]re going to| are going to)(?: now| also| then| just)* (send|notify|inform|tell|forward|escalate|arrange|remind|call|e-?mail|transfer|pay|refund|cancel|delete|submit|book|schedule|order|contact|follow up|chase|pass (?:it|this|that) on)\b` +
		`|\b(?:ich werde|wir werden)\b[^.?!\n]{0,80}[^\pL](?:senden|schicken|überweisen|benachrichtigen|informieren|weiterleiten|stornieren|löschen|erinnern)\b` +
		`|\b(?:je vais|nous allons|voy a|vamos a) (?:envoyer|informer|prévenir|transmettre|annuler|payer|enviar|informar|avisar|cancelar|pagar|transferir)`)
	// offered makes no promise of what it stands in.
	offered = lazily(`(?i)\b(?:if|once|when|as soon as|unless|after you|would you like|shall|should|wenn|sobald|falls|soll|si|dès que|cuando)\b|\?`)
	// toYou is said to whom it is said.
	toYou    = lazily(`(?i)\b(?:tell|let) you\b`)
	clauses  = lazily(`[.;!?](?:\s|$)|\n`)
	asksBack = lazily(`(?i)^\W*(?:is|are|was|were|shall|should|would|do|does|did|can|could|may|have|has|ist|sind|soll|est-ce|¿)`)
)

// rowNames are the names of all rows that may be spoken of, as they are spoken.
func (f *facts) rowNames() []string {
	if f.spoken == nil {
		f.spoken = []string{}
		for _, n := range f.names {
			if n = strings.TrimSpace(nameable(n)); len(n) > 2 {
				f.spoken = append(f.spoken, n)
			}
		}
	}
	return f.spoken
}

// A did is what a turn did, for sentences that say so.
type did struct {
	text    string          // of all calls that did something: names, words, values; see nameable
	words   map[string]bool // of the same
	notices bool            // somebody was told something
}

// did takes down what a run did.
func (f *facts) did(p *receipt.Receipt, reg *verbs.Registry) {
	var b strings.Builder
	add := func(texts ...string) {
		for _, t := range texts {
			b.WriteString(nameable(t) + " \n ")
		}
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		if !acted(c) {
			continue
		}
		add(c.Verb, reg.Verb(c.Verb).Description, c.Text)
		for j := range c.Rows {
			r := &c.Rows[j]
			add(r.Name, r.Label, fieldWords(r.Entity))
			for _, g := range r.Fields {
				add(g.Name)
				if !g.Sensitive {
					add(plain(g.After.Shown()))
				}
			}
		}
		for _, n := range c.Notices {
			add(n.Kind, n.Target, n.Calls)
			f.deeds.notices = true
		}
		f.deeds.notices = f.deeds.notices || len(c.Errands) > 0
		if c.Result != nil {
			for _, row := range c.Result.Rows {
				for j, v := range row {
					if c.Result.Sensitive == nil || !c.Result.Sensitive[j] {
						add(plain(v))
					}
				}
			}
		}
	}
	f.deeds.text += " " + b.String()
	if f.deeds.words == nil {
		f.deeds.words = map[string]bool{}
	}
	for _, w := range strings.Fields(b.String()) {
		f.deeds.words[w] = true
	}
}

// invented lists what a reply says was done, or will be, and was not.
func (f *facts) invented(reply string) []string {
	var all []string
	from := 0
	for from < len(reply) {
		end := len(reply)
		next := end
		if at := clauses().FindStringIndex(reply[from:]); at != nil {
			end, next = from+at[0]+1, from+at[1]
		}
		clause := reply[from:end]
		asks := strings.HasSuffix(strings.TrimSpace(clause), "?") && asksBack().MatchString(clause)
		for _, deed := range deeds().FindAllString(clause, -1) {
			if !asks && !f.bearsOut(deed, clause) {
				all = append(all, deed)
			}
		}
		for _, deed := range implied().FindAllString(clause, -1) {
			if !asks && !f.bearsOut(deed, clause) {
				all = append(all, deed)
			}
		}
		for _, deed := range promised().FindAllString(clause, -1) {
			if !offered().MatchString(clause) && !toYou().MatchString(clause) && !f.bearsOut(deed, clause) {
				all = append(all, deed)
			}
		}
		from = next
	}
	return all
}

// bearsOut reports whether a deed that a clause tells of is one: a record says the
// same, or it was done in this turn, to whatever rows the clause names.
func (f *facts) bearsOut(deed, clause string) bool {
	// A record may say that something was done. That the person says so is no
	// reason for the house to.
	folded := fold(deed)
	if slices.ContainsFunc(f.all, func(s *source) bool { return s.origin == ofRecord && s.hasWords(folded) }) {
		return true
	}
	if !f.wrote {
		return false
	}
	told := " " + nameable(clause) + " "
	for _, name := range f.rowNames() {
		if containsWord(told, name) && !containsWord(f.deeds.text, name) && !f.within(name, told) {
			return false
		}
	}
	spoken := nameable(deed)
	words := strings.Fields(spoken)
	known := false
	for i := range families {
		fam := &families[i]
		if slices.ContainsFunc(fam.says, func(s string) bool {
			return fam.calls == nil && strings.Contains(s, " ") && strings.Contains(spoken, s)
		}) {
			return true
		}
		if !slices.ContainsFunc(fam.says, func(s string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, s) })
		}) {
			continue
		}
		if fam.calls == nil {
			if !known {
				return true
			}
			continue
		}
		known = true
		if fam.notice && f.deeds.notices || slices.ContainsFunc(fam.calls, f.deeds.calls) {
			return true
		}
	}
	if known {
		return false
	}
	// A word of no family: what was done has to be called so.
	return slices.ContainsFunc(words, func(w string) bool { return len(w) > 4 && f.deeds.calls(stemOf(w)) })
}

// within reports whether a name stands in a text only as a part of a longer name
// that something was done to.
func (f *facts) within(name, told string) bool {
	for _, longer := range f.rowNames() {
		if len(longer) > len(name) && containsWord(longer, name) && containsWord(told, longer) {
			return containsWord(f.deeds.text, longer)
		}
	}
	return false
}

func stemOf(w string) string {
	for _, end := range []string{"ied", "ed", "ing", "s"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) > 2 {
			return stem
		}
	}
	return w
}

// calls reports whether something was done that a palette calls by a word.
func (d *did) calls(word string) bool {
	if d.words[word] {
		return true
	}
	for w := range d.words {
		if strings.HasPrefix(w, word) && len(w) <= len(word)+4 {
			return true
		}
	}
	return false
}

// States

var states = lazily(`(?i)\b(?:is|are|was|were|ist|sind|war|est|sont|está|están)(?: now| already| currently| still| jetzt| nun| bereits| schon| déjà| ahora| ya)*\s+((?:[\pL]+[ -]?){1,4})`)

// misstated lists states that a reply gives a row which has another, as far as
// palettes have words for them. Elsewhere in the turn the word may well stand: it
// is another row's.
func (f *facts) misstated(reply string) []string {
	var all []string
	for _, clause := range clauses().Split(reply, -1) {
		found := states().FindAllStringSubmatch(clause, -1)
		if found == nil {
			continue
		}
		told := nameable(clause)
		var of []string
		for _, name := range f.rowNames() {
			if containsWord(told, name) && f.rows[name] != "" && !slices.ContainsFunc(of, func(n string) bool { return containsWord(n, name) }) {
				of = append(slices.DeleteFunc(of, func(n string) bool { return containsWord(name, n) }), name)
			}
		}
		if len(of) != 1 {
			continue
		}
		for _, m := range found {
			said := nameable(m[1])
			state := ""
			for _, code := range f.states {
				if (said == code || strings.HasPrefix(said, code+" ")) && len(code) > len(state) {
					state = code
				}
			}
			if state != "" && !containsWord(f.rows[of[0]], state) && !containsWord(f.deeds.text, state) {
				all = append(all, strings.TrimSpace(m[0]))
			}
		}
	}
	return all
}

// shownRow takes down what is shown of a row.
func (f *facts) shownRow(name, text string) {
	if f.rows == nil {
		f.rows = map[string]string{}
	}
	f.rows[name] += " " + nameable(text)
}

// shownRows takes down what an answer shows of the rows that it names.
func (f *facts) shownRows(r *receipt.Result) {
	for _, row := range r.Rows {
		var names []string
		var b strings.Builder
		for j, v := range row {
			if v.IsNull() || r.Sensitive != nil && r.Sensitive[j] {
				continue
			}
			if name, ok := strings.CutPrefix(plain(v), "@"); ok {
				names = append(names, strings.TrimSpace(nameable(name)))
			}
			b.WriteString(plain(v) + " \n ")
		}
		for _, n := range names {
			f.shownRow(n, b.String())
		}
	}
}

// statesOf are the words of all codes of palettes.
func statesOf(reg *verbs.Registry) []string {
	var all []string
	for _, v := range reg.CodeLists() {
		for _, c := range v.Codes {
			if name := strings.TrimSpace(nameable(c.Name)); len(name) > 3 {
				all = append(all, name)
			}
			if d := strings.TrimSpace(nameable(c.Description)); d != "" && len(strings.Fields(d)) <= 2 {
				all = append(all, d)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
