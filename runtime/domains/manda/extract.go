package manda

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"verbatim/runtime/files/documents"
)

// What a figure is.
const (
	Actual   = "ACTUAL"
	Forecast = "FORECAST"
	Draft    = "DRAFT"
	Audited  = "AUDITED"
)

// A Finding is a figure of the company, with its place in a document.
type Finding struct {
	Figure
	Metric     string // its name in the lexicon, or the label in the document if the lexicon has none
	Label      string // in a table, the label of its row, with those that it stands under
	Head       string // in a table, the heads of its column
	Title      string // what the text around its table says of it
	Domain     string
	Subject    string // the part of the company; "" means the whole
	Period     Period
	Status     string
	Place      string
	Confidence int // percentage of it that the document itself states
}

var (
	forecasts  = pattern(`(?i)(?:^|[^\p{L}])(?:forecasts?|forecasted|budgets?|budgeted|plan|planned|outlook|guidance|estimated?s?|expects?|expected|projected|projections?|target|will (?:reach|be|rise|grow|come)|should reach|prognosen?|prognostiziert|planung|hochrechnung|erwarte[nt]|erwartete[nrs]?|wird|werden|prévisions?|prévisionnel|prévoit|prévu|estimée?s?|attendue?s?|objectif)(?:[^\p{L}]|$)`)
	actuals    = pattern(`(?i)(?:^|[^\p{L}])(?:actuals?|ist|réel|réalisé|reported)(?:[^\p{L}]|$)`)
	drafts     = pattern(`(?i)(?:^|[^\p{L}])(?:draft|preliminary|provisional|entwurf|vorläufige?[nrs]?|projet|provisoires?)(?:[^\p{L}]|$)`)
	audits     = pattern(`(?i)(?:^|[^\p{L}])(?:audited (?:consolidated |annual )?(?:financial )?(?:statements|accounts|figures|report)|auditor'?s'? report|independent auditors?|audited by|geprüft (?:durch|von)|revidiert (?:durch|von)|(?:audité|certifié)e?s? par|auditad[oa]s? por|comptes certifiés|geprüfte?r? (?:konzern|jahres)abschluss|bestätigungsvermerk|comptes (?:annuels )?audités|rapport des commissaires aux comptes)(?:[^\p{L}]|$)`)
	changes    = pattern(`(?i)(?:^|[^\p{L}])(?:change|variance|delta|yoy|y-o-y|growth|abw(?:eichung)?|veränd(?:erung)?|vs|variation|évolution|écart|notes?|page|ref|nr|no|row|share|anteil|limits?|thresholds?|covenant|minimum|maximum|grenzwert|% of)(?:[^\p{L}]|$)|[Δ∆]`)
	wholeDoc   = pattern(`(?i)(?:all |the )?(?:figures|amounts|numbers|values|angaben|beträge|zahlen|werte|montants|chiffres)(?: are)?(?: stated| shown| expressed| presented)?[^.;]{0,20} (?:in|en) [^.;]{1,40}`)
	earlier    = pattern(`(?i)(?:a |the )?(?:year (?:earlier|ago|before)|(?:prior|previous|last|preceding)[- ]year|vorjahr\pL*|(?:l'|d')?(?:année|exercice) précédente?|(?:a|an) un an plus tôt|ein jahr (?:zuvor|vorher|davor)|corresponding period)`)
	groupWords = pattern(`(?i)^(?:of|de|du|der|des|from|for|by|von|nach|to|persons?|people|personen|number|amount|amounts|value|values|figure|figures|betrag|wert|montant|valeur|all|sum|summe|somme|insgesamt|gruppe|konzerns|konzernweit|outstanding|balance|position|item|book|nominal|end|january|december|year|ensemble|gesamtkonzern|anzahl|group|total|consolidated|overall|company|net|reported|konzern|gesamt|groupe|total|the|our|annual|quarterly|full[- ]year|year|end|of which|in|per|at|as|as at|year[- ]end|closing|average|fy|ytd|and)$`)
	partBehind = pattern(`^(?:,? ?(?:of|at|in|for|from|der|des|von|im|in der|de la|de|du|chez|à) (?:the |der |dem |our |la |le )?((?:\p{Lu}[\p{L}&.-]*|segment|subsidiary|division|plant)(?: (?:\p{Lu}[\p{L}&.-]*|segment|subsidiary|division|plant)){0,3}))`)
	partBefore = pattern(`((?:\p{Lu}[\p{L}&.-]*)(?: (?:\p{Lu}[\p{L}&.-]*|&)){0,2}(?: (?:segment|subsidiary|division|plant|site|business unit))?)['’]?s? $`)
)

// A reader takes findings out of one document.
type reader struct {
	about    About
	comma    bool
	measure  measure // of the whole document
	nearby   measure // that the text around the table states
	title    string  // what that says of it
	stated   measure // what the document states first for the figures of a table or of all
	findings []Finding
	seen     map[string]bool
	stem     string // of its name
	contract bool   // what it says holds as long as it does
}

// contracts matches the name of a paper that two have agreed on.
var contracts = pattern(`(?i)\b(?:\pL*agreement|contract|\pL*vertrag|lease|contrat|bail|contrato|terms (?:of|and))\b`)

// Extract extracts the figures of a document with a name: those of its tables, and those in its
// sentences about metrics of the lexicon. The result depends only on the arguments.
func Extract(name string, doc *documents.Document) (About, []Finding) {
	r := &reader{seen: map[string]bool{}}
	var text, first, named strings.Builder // named is what may name the company: no row of a table
	var heading string
	for i := range doc.Pieces {
		p := &doc.Pieces[i]
		if p.Hidden {
			continue
		}
		text.WriteString(p.Text + "\n")
		if first.Len() < 1500 {
			first.WriteString(p.Text + "\n")
			if p.Cell == nil || p.At.Row < 3 {
				named.WriteString(p.Text + "\n")
			}
		}
		if heading == "" && p.Kind == documents.Heading {
			heading = p.Text
		}
	}
	r.comma = commas(text.String())
	if is := wholeDoc.re().FindString(text.String()); is != "" {
		r.measure = measureOf(is)
	}
	stem := strings.NewReplacer("_", " ", "-", " ").Replace(strings.TrimSuffix(name, path.Ext(name)))
	opening, _, _ := strings.Cut(first.String(), "\n")
	r.about = about(stem, cmp.Or(doc.Title, heading, firstRunes(opening, 120)), first.String(), text.String(), doc)
	r.stem = stem
	r.contract = contracts.re().MatchString(stem + "\n" + heading + "\n" + doc.Title)
	r.about.Replaces = replaces(text.String())
	r.about.Part = partIn(cmp.Or(doc.Title, heading) + "\n" + firstRunes(named.String(), 250) + "\n" + stem)
	r.tables(doc.Pieces)
	r.prose(doc.Pieces)
	r.about.Measure = r.states(doc.Pieces)
	if len(r.findings) > atOnce { // what is asked most comes first, since one call takes so many
		slices.SortStableFunc(r.findings, func(x, y Finding) int { return rank(&x) - rank(&y) })
	}
	return r.about, r.findings
}

// rank is lower for a figure of a sentence, or one that the lexicon has a name for.
func rank(f *Finding) int {
	if f.Label == "" || lexicon()[f.Metric] != nil {
		return 0
	}
	return 1
}

// keep keeps a finding, once for each place and meaning.
func (r *reader) keep(f Finding) {
	if m := lexicon()[f.Metric]; m != nil {
		if m.stock {
			f.Period = f.Period.close()
		}
	}
	if f.Period.String() == "" && f.Label == "" && !r.contract || f.Value.Num().BitLen() > 200 {
		return
	}
	if f.Status == Draft {
		f.Confidence -= 15
	}
	key := strings.Join([]string{f.Place, f.Label, f.Head, f.Metric, f.Subject, f.Period.String(), f.Status, shown(f.Value)}, "|")
	if !r.seen[key] {
		r.seen[key] = true
		r.findings = append(r.findings, f)
	}
}
