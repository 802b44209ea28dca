package documents_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"verbatim/runtime/files/documents"
)

func ExampleRead() {
	file, err := os.Open("testdata/golden/pnl-libreoffice.xlsx")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	doc, err := documents.Read(context.Background(), file.Name(), file, documents.Limits{Wall: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range doc.Pieces {
		if p.Cell != nil && p.Cell.Formula != "" && p.At.Row == 4 {
			fmt.Println(p.At, "shows", p.Text, "of", p.Cell.Formula, "as", p.Cell.Format)
		}
	}
	// Output:
	// 'P&L'!B4 shows 2 of B2+B3 as #,##0.0" €m"
	// 'P&L'!C4 shows 2.1 of C2+C3 as #,##0.0" €m"
	// 'P&L'!D4 shows 2.2 of D2+D3 as #,##0.0" €m"
}
