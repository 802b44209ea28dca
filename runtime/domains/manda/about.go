package manda

import (
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
func about(stem, title, first string, doc *documents.Document) About {
	a := About{Title: title, Status: Actual}
	head := stem + "\n" + title + "\n" + firstRunes(first, 400)
	switch {
	case drafts.re().MatchString(stem + " " + title):
		a.Status = Draft
	case audits.re().MatchString(head) && !drafts.re().MatchString(head):
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
	for _, p := range periods(first) {
		if p.Kind == 'D' && a.Date.IsZero() {
			a.Date = time.Date(p.Year, time.Month(p.N), p.Day, 0, 0, 0, 0, time.UTC)
		}
	}
	if a.Date.IsZero() {
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

var (
	groupIn  = pattern(`(?i)(?:^|[^\p{L}])(?:group|holding|consolidated|konzern\pL*|gruppe|groupe|consolidés?)(?:[^\p{L}]|$)|-gruppe|-konzern`)
	siteIn   = pattern(`(?:[Ss]ite|[Pp]lant|[Ww]erk|Werksbericht|Standort|[Uu]sine|[Ff]iliale|Niederlassung|[Ss]ubsidiary)(?: de| of| du| in| d['’])? (\p{Lu}\p{L}+)`)
	entityIn = pattern(`((?:\p{Lu}[\p{L}&-]+ ){1,4})(?:Inc\b|SAS\b|S\.A\.S|SARL\b|S\.A\.|s\.r\.o|Ltd\b|LLC\b|B\.V|GmbH|AG\b|SE\b|KG\b|Sp\. z)`)
)

// partIn returns the part of the company that the beginning of a document names: a site, or one of
// several companies. A document that names the group is about the whole.
func partIn(head string) string {
	if is := siteIn.re().FindStringSubmatch(head); is != nil {
		return plainly(is[1])
	}
	if is := entityIn.re().FindStringSubmatchIndex(head); is != nil && !groupIn.re().MatchString(head[:is[1]]) {
		return plainly(head[is[0]:is[1]])
	}
	return ""
}

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
