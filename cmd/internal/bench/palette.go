package main

import (
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"
)

// palettes writes n verbs in files of a hundred, the way an author would: a
// description, five arguments, roles, an effect with operands, and a rule for
// asking on one verb in ten.
func palettes(n int) fs.FS {
	files := fstest.MapFS{}
	for first := 0; first < n; first += 100 {
		files[fmt.Sprintf("area%03d.yaml", first/100)] = &fstest.MapFile{Data: []byte(palette(first, min(100, n-first)))}
	}
	return files
}

func palette(first, n int) string {
	area := first / 100
	var b strings.Builder
	fmt.Fprintf(&b, "domain: area%03d\n", area)
	b.WriteString("description: One part of a large company.\n")
	if first == 0 {
		b.WriteString(`roles:
  - {name: clerk, description: Whoever does the work.}
  - {name: auditor, description: Whoever looks at it., sees: all}
codes:
  - name: channel
    description: How somebody is reached.
    values: [CALL, EMAIL, VIDEO]
`)
	}
	fmt.Fprintf(&b, `entities:
  item%03d:
    description: What this area works on.
    table: area%03d.items
    key: item_id
    managed: true
    scope: self
    label: "{name}"
    fields:
      name:     {type: string, required: true}
      note:     {type: string}
      due_date: {type: date}
      amount:   {type: decimal}
      channel:  {type: code, ref-type: channel}
verbs:
`, area, area)
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `  - verb: change-item-%05d
    description: Change what is known of an item, variant %d.
    roles: [clerk, auditor]
    phrases: ["change {item-id} to {note}", "note {note}"]
    args:
      - {name: item-id, type: ref, ref-type: item%03d, required: true, description: the item}
      - {name: note, type: string, required: true, max-length: 2000}
      - {name: due-date, type: date}
      - {name: amount, type: decimal, min: 0, scale: 2}
      - {name: channel, type: code, ref-type: channel}
`, i, i, area)
		if i%10 == 0 {
			b.WriteString("    confirm:\n      - {when: \"amount != nil and amount > 1000\", by: auditor, reason: it is a large amount}\n")
		}
		fmt.Fprintf(&b, `    effects:
      - updates: item%03d
        where: item-id
        set: {note: note, due_date: due-date, amount: amount, channel: channel}
`, area)
	}
	return b.String()
}

// fiveArgs is a valid call of verb i with all five arguments.
func fiveArgs(i int) string {
	return fmt.Sprintf(`area%03d.change-item-%05d :item-id @first-item :note "Accountant is sending it" :due-date 2025-01-03 :amount 12.50 :channel EMAIL`, i/100, i)
}
