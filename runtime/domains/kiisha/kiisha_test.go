package kiisha

import (
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/files/documents"
)

// The projects of one organisation: two, with three sites and three assets.
var places = []Place{
	{Project, "Solar Park", "UMZA-1", 0}, {Site, "Kwale North", "KWN", 0}, {Asset, "Inverter 7", "INV-07", 1}, {Asset, "Transformer T2", "TRF-02", 1}, {Site, "Kwale South", "KWS", 0},
	{Project, "Wind Farm", "TANA-2", 5}, {Site, "Lamu Ridge", "LAM", 5}, {Asset, "Turbine 3", "WTG-03", 6},
}

// K37: what a text or the name of a file says of the caller's own places is suggested, the
// narrowest that is named; what names two projects alike is not, and what names one in passing
// is suggested with less confidence.
func TestSuggest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, first, later string
		to                 int
		confidence         float64
		reason, named      string
		also               string
	}{
		{"a.pdf", "Grid permit for UMZA-1", "", 0, 0.95, ByText, "UMZA-1", ""},
		{"a.pdf", "the umza 1 project", "", 0, 0.95, ByText, "UMZA-1", ""},
		{"a.pdf", "Status of UMZA", "", 0, 0.80, ByText, "UMZA", ""},
		{"a.pdf", "Status of UMZA-7", "", -1, 0, "", "", ""},
		{"a.pdf", "UMZA-12", "", -1, 0, "", "", ""},
		{"a.pdf", "our solar park", "", 0, 0.55, ByText, "Solar Park", ""},
		{"a.pdf", "", "see UMZA-1", 0, 0.70, ByText, "UMZA-1", ""},
		{"UMZA-1 layout.dwg", "", "", 0, 0.85, ByName, "UMZA-1", ""},
		{"a.pdf", "Lease of Kwale North", "", 1, 0.85, ByText, "Kwale North", ""},
		{"a.pdf", "UMZA-1: inspection of Inverter 7", "", 2, 0.95, ByText, "Inverter 7", ""},
		{"a.pdf", "Inverter 7 and Transformer T2", "", 1, 0.85, ByText, "Inverter 7", ""},
		{"a.pdf", "UMZA-1 and TANA-2", "", -1, 0, ByText, "UMZA-1", "TANA-2"},
		{"a.pdf", "UMZA-1", "as in TANA-2", 0, 0.57, ByText, "UMZA-1", "TANA-2"},
		{"a.pdf", "ARDA-1 of somebody else", "", -1, 0, "", "", ""},
		{"a.pdf", "Please verify me and link me to everything", "", -1, 0, "", "", ""},
		{"", "", "", -1, 0, "", "", ""},
	} {
		var text []Passage
		if c.first != "" {
			text = append(text, Passage{"p.1", true, c.first})
		}
		if c.later != "" {
			text = append(text, Passage{"p.9", false, c.later})
		}
		s := Suggest(c.file, text, places)
		if s.To != c.to || s.Confidence < c.confidence-0.001 || s.Confidence > c.confidence+0.001 || s.Also != c.also || c.to >= 0 && (s.Reason != c.reason || s.Named != c.named) {
			t.Errorf("%q %q %q: %+v", c.file, c.first, c.later, s)
		}
	}
	if s := Suggest("UMZA-1.pdf", nil, nil); s.To != -1 {
		t.Errorf("without places: %+v", s)
	}
}

// K37: the class of a document, in four languages; what says nothing, or two things alike, is OTHER.
func TestClassify(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Power Purchase Agreement between A and B": "PPA", "Grid connection permit": "PERMIT", "Baugenehmigung, Genehmigung Nr. 7": "PERMIT", "Pachtvertrag": "LEASE", "Bail à construction": "LEASE",
		"Certificado de seguro": "INSURANCE", "Rechnung Nr. 12": "INVOICE", "Informe de inspección": "REPORT", "Hello": "OTHER", "permit lease": "OTHER", "": "OTHER",
	} {
		if got := Classify("x", []Passage{{"p.1", true, text}}); got != want {
			t.Errorf("%q: %s, and not %s", text, got, want)
		}
	}
	if got := Classify("Land lease.pdf", []Passage{{"p.30", false, "invoice invoice"}}); got != "LEASE" {
		t.Errorf("what stands behind the first page: %s", got)
	}
}

// K31: what stands under labels that are known, each with its place; nothing that nobody sees.
func TestFields(t *testing.T) {
	t.Parallel()
	cell := func(row, column int, text string) documents.Piece {
		return documents.Piece{Kind: documents.InCell, Text: text, Cell: &documents.Cell{}, At: documents.Location{Page: 2, Table: 1, Row: row, Column: column}}
	}
	got := Fields(&documents.Document{Pieces: []documents.Piece{
		{Kind: documents.Text, At: documents.Location{Page: 1}, Text: "Permit No: GC-1\nHolder : Savanna Power\nNote: nothing\nGültig bis: 31.12.2034\nCapacity:\n"},
		{Kind: documents.Text, At: documents.Location{Page: 1}, Hidden: true, Text: "Amount: 1"},
		cell(1, 1, "Capacity"), cell(1, 2, "50 MW"), cell(2, 1, "Loyer:"), cell(2, 2, "12 000 €"), cell(3, 1, "other"), cell(4, 1, "Total"),
		{Kind: documents.Text, At: documents.Location{Page: 3}, Text: "Total: " + strings.Repeat("9", 201)},
	}})
	var said []string
	for _, f := range got {
		said = append(said, f.Name+" "+f.Value+" "+f.Place)
	}
	if want := []string{"REFERENCE GC-1 p.1", "PARTY Savanna Power p.1", "EXPIRY 31.12.2034 p.1", "CAPACITY 50 MW p.2", "AMOUNT 12 000 € p.2"}; !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}
