package dsl

import "encoding/json"

// The JSON form of a diagnostic, for programs. Fields are only ever added; every field is always
// present. Offsets count bytes, lines and columns count from one. The range of a diagnostic about
// the input as a whole is null.
type (
	jsonDiagnostic struct {
		Severity string        `json:"severity"`
		Code     string        `json:"code"`
		Summary  string        `json:"summary"`
		Label    string        `json:"label"`
		Notes    []string      `json:"notes"`
		File     string        `json:"file"`
		Range    *jsonRange    `json:"range"`
		Related  []jsonRelated `json:"related"`
		Fixes    []jsonFix     `json:"fixes"`
	}
	jsonRange struct {
		Start jsonPosition `json:"start"`
		End   jsonPosition `json:"end"`
	}
	jsonPosition struct {
		Offset int32 `json:"offset"`
		Line   int   `json:"line"`
		Column int   `json:"column"`
	}
	jsonRelated struct {
		Message string     `json:"message"`
		File    string     `json:"file"`
		Range   *jsonRange `json:"range"`
	}
	jsonFix struct {
		Title string     `json:"title"`
		Safe  bool       `json:"safe"`
		Edits []jsonEdit `json:"edits"`
	}
	jsonEdit struct {
		Range *jsonRange `json:"range"`
		Text  string     `json:"text"`
	}
)

// MarshalJSON encodes a diagnostic for programs: severity, code, summary,
// label, notes, file, range, related, fixes.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	j := jsonDiagnostic{
		Severity: d.Severity.String(), Code: d.Code, Summary: d.Summary, Label: d.Label,
		Notes: append([]string{}, d.Notes...), File: d.Place.file(),
		Related: []jsonRelated{}, Fixes: []jsonFix{},
	}
	if d.Place.hasRange() {
		j.Range = d.Place.Source.jsonRange(d.Place.Range)
	}
	for _, r := range d.Related {
		jr := jsonRelated{Message: r.Message, File: r.Place.file()}
		if r.Place.hasRange() {
			jr.Range = r.Place.Source.jsonRange(r.Place.Range)
		}
		j.Related = append(j.Related, jr)
	}
	for _, f := range d.Fixes {
		jf := jsonFix{Title: f.Title, Safe: f.Safe, Edits: []jsonEdit{}}
		for _, e := range f.Edits {
			jf.Edits = append(jf.Edits, jsonEdit{d.Place.Source.jsonRange(e.Range), e.Text})
		}
		j.Fixes = append(j.Fixes, jf)
	}
	return json.Marshal(j)
}

func (p Place) file() string {
	if p.Source == nil {
		return ""
	}
	return p.Source.Name
}

func (s *Source) jsonRange(r Range) *jsonRange {
	if s == nil {
		return nil
	}
	at := func(offset int32) jsonPosition {
		p := s.Position(offset)
		return jsonPosition{offset, p.Line, p.Column}
	}
	return &jsonRange{at(r.Start), at(r.End)}
}
