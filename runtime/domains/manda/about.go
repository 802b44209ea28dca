package manda

import (
	"slices"
	"strings"
	"time"

	"verbatim/runtime/files/documents"
)

// An About holds the facts that a document states about itself.
type About struct {
	Status   string
	Date     time.Time // zero if it states none
	Title    string
	Period   Period    // the period of its figures
	Part     string    // the part of the company that it is about; "" if it names none
	Replaces []Replace // the documents that it claims to replace
	Measure  string    // the unit and scale that it states for its figures: "1000 USD"; "" if it states none
}

// about returns the facts that the name, the title and the beginning of a document state about it.
func about(stem, title, first, text string, doc *documents.Document) About {
	a := About{Title: title, Status: Actual}
	head := stem + "\n" + title + "\n" + firstRunes(first, 400)
	switch {
	case drafts.re().MatchString(stem + " " + title):
		a.Status = Draft
	case (audits.re().MatchString(head) || opinion.re().MatchString(text)) && !drafts.re().MatchString(head) && !unaudited.re().MatchString(head):
		a.Status = Audited
	case drafts.re().MatchString(head):
		a.Status = Draft
	case forecasts.re().MatchString(plansOf.re().ReplaceAllString(stem+" "+title, " ")):
		a.Status = Forecast
	}
	for _, part := range []string{stem, title, firstRunes(first, 300)} {
		for _, p := range periods(part) {
			if a.Period.Kind == 0 && (p.Kind != 'D' || asOf.re().MatchString(part[:p.at])) && p.Year != 0 {
				a.Period = p.Period
			}
		}
	}
	if a.Date = dated(first, text); a.Date.IsZero() {
		a.Date = doc.Modified
		if a.Date.IsZero() {
			a.Date = doc.Created
		}
	}
	if a.Period.Kind == 0 && !a.Date.IsZero() {
		a.Period = Period{Kind: 'Y', Year: a.Date.Year()}
	}
	return a
}

// signature is the number of bytes at the end of a text in which it may say when it was signed.
const signature = 600

// dated returns the day on which a document was written: the one on which it says it was signed, the first
// that it states, but no end of a term, its month, or the day that its figures are of.
func dated(first, text string) (best time.Time) {
	const none = 5
	end := strings.ToValidUTF8(text[max(0, len(text)-signature):], "")
	lines := func(text string) string { return strings.Join(strings.Fields(text), " ") } // a date may go on in the next
	was := none
	try := func(text string, last bool) {
		all := periods(text)
		several := 1 < len(slices.DeleteFunc(slices.Clone(all), func(p said) bool { return p.Kind != 'M' || p.at >= 300 }))
		for _, p := range all {
			before := text[:p.at]
			n := none
			switch {
			case until.re().MatchString(before), p.Year == 0:
			case p.Kind == 'D' && signedOn.re().MatchString(before):
				n = 0
			case last:
			case p.Kind == 'D' && !asOf.re().MatchString(before):
				n = 1
			case p.Kind == 'M' && p.at < 300 && !several:
				n = 2
			case p.Kind == 'D':
				n = 3
			}
			if n < was {
				was = n
				if best = time.Date(p.Year, time.Month(p.N), p.Day, 0, 0, 0, 0, time.UTC); p.Kind == 'M' {
					best = time.Date(p.Year, time.Month(p.N)+1, 0, 0, 0, 0, 0, time.UTC)
				}
			}
		}
	}
	try(lines(first), false)
	try(lines(end), true)
	return best
}

// signedOn matches the text before the day on which a document was signed.
var signedOn = pattern(`(?i)(?:\bdated|\bsigned(?: on| at [^.;]{0,30})?|\bexecuted on|\bunterzeichnet am|\bvom|\bdatum:?|\bdate:?|\bsigné(?: le)?|\bfait (?:à|en) [^.;]{0,40}\ble|\bfirmado el|\ben date du)[ ,]*$`)

// opinion matches what an auditor writes, and unaudited what says that no auditor did.
var (
	opinion   = pattern(`(?i)\bwe have audited\b|\btrue and fair view\b|\bpresents? fairly\b|\bwir haben [^.]{0,160}\bgeprüft\b|entsprechendes bild\b|\bnous avons (?:audité|effectué l['’]audit|procédé à l['’]audit)|\bnous certifions\b|\bimage fidèle\b|\bhemos auditado\b|\bimagen fiel\b`)
	unaudited = pattern(`(?i)\b(?:unaudited|not (?:been |yet )*audited|ungeprüft\pL*|nicht (?:testiert|geprüft)\pL*|non[- ](?:audité|certifié)\pL*|no auditad\pL*)`)
)

var (
	groupIn  = pattern(`(?i)(?:^|[^\p{L}])(?:group|holding|consolidated|konzern\pL*|gruppe|groupe|consolidés?)(?:[^\p{L}]|$)|-gruppe|-konzern`)
	siteIn   = pattern(`(?:\b[Ll]ease(?: of)?|\bMietvertrag|\b[Bb]ail(?: commercial)?|[Ss]ite|[Pp]lant|[Ww]erk|Werksbericht|Standort|[Uu]sine|[Ff]iliale|Niederlassung|[Ss]ubsidiary)(?: de| of| du| in| d['’])? (\p{Lu}\p{L}+)`)
	entityIn = pattern(`((?:\p{Lu}[\p{L}&-]{4,} (?:(?:du|de|des|la|le|van|y|&) ){1,2})?(?:\p{Lu}[\p{L}&-]+ ){1,4})(?:Inc\b|SAS\b|S\.A\.S|SARL\b|S\.A\.|SA\b|A/S\b|AB\b|AS\b|Oy\b|N\.V|S\.p\.A|S\.L|s\.r\.o|a\.s\.|plc\b|Ltd\b|LLC\b|B\.V|GmbH|AG\b|SE\b|KG\b|Sp\. z)`)
	parties  = pattern(`^(?:(?:Between|Entre|Zwischen|And|Und|Et|To|An|For|Von|From|By|The|Der|Die|Das|Den|La|Le|El) )+`)
)

// partIn returns the part of the company that the beginning of a document names: a site, or one of
// several companies. A document that names the group is about the whole.
func partIn(head string) string {
	if is := siteIn.re().FindStringSubmatch(head); is != nil {
		return plainly(is[1])
	}
	part := ""
	for _, is := range entityIn.re().FindAllStringIndex(head, -1) {
		name := plainly(parties.re().ReplaceAllString(head[is[0]:is[1]], ""))
		if part != "" && part != name || part == "" && groupIn.re().MatchString(head[:is[1]]) || addressed.re().MatchString(head[:is[0]]) || strings.HasPrefix(strings.TrimLeft(head[is[1]:], "."), " <") {
			return "" // of the whole, or a paper between several
		}
		part = name
	}
	return part
}

// addressed matches what stands before the name of somebody to whom a paper goes.
var addressed = pattern(`(?im)^(?:to|an|à|a|attn|attention|dear|for)\b:? *$`)

// asOf matches the text before the date of figures, which is not the date of their document.
var asOf = pattern(`(?i)(?:as of|as at|ended|ending|zum|per|stichtag|au|clos le)[ \x{a0}](?:the )?$`)

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
