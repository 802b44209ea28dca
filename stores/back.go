package stores

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The statements of plans that a program of before sees, or is stopped by, in both dialects.
var backForms = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for name, form := range map[string]string{
		"version": `(?s)^UPDATE \S*verbatim_schema"? SET version = (\d+)`,
		"renamed": `(?s)^ALTER TABLE (\S+) RENAME `,
		"dropped": `(?s)^(?:ALTER TABLE (\S+) DROP COLUMN |DROP TABLE )`,
		"must":    `(?s)^ALTER TABLE (\S+) ADD COLUMN (\S+) .*\bNOT NULL`,
		"default": `(?s)\bDEFAULT\b|\bGENERATED\b`,
		"table":   `(?s)^CREATE TABLE (\S+)`,
		"column":  `(?s)^ALTER TABLE (\S+) ADD COLUMN (\S+)`,
	} {
		all[name] = regexp.MustCompile(form)
	}
	return all
})

// Back says what remains of a plan for a program and palettes of before. stays names what they find and do not
// use. barred says why they do not work any more, and only a copy of before leads back.
func (p *Plan) Back() (stays, barred []string) {
	bare := func(s string) string { return strings.ReplaceAll(s, `"`, "") }
	forms := backForms()
	for _, step := range p.Steps {
		if m := forms["version"].FindStringSubmatch(step); m != nil {
			barred = append(barred, "the store gets version "+m[1]+", which the program of before refuses")
		} else if m := forms["renamed"].FindStringSubmatch(step); m != nil {
			barred = append(barred, "table "+bare(m[1])+" or a column of it is renamed")
		} else if forms["dropped"].MatchString(step) {
			barred = append(barred, "something is dropped: "+bare(step))
		} else if m := forms["must"].FindStringSubmatch(step); m != nil && !forms["default"].MatchString(step) {
			barred = append(barred, "column "+bare(m[1])+"."+bare(m[2])+" takes no null and has no default: rows of the program of before are refused")
		} else if m := forms["column"].FindStringSubmatch(step); m != nil {
			stays = append(stays, "column "+bare(m[1])+"."+bare(m[2]))
		} else if m := forms["table"].FindStringSubmatch(step); m != nil {
			stays = append(stays, "table "+bare(m[1]))
		}
	}
	for _, d := range p.DataChanges {
		if d.Kind == RenameEntity || d.Kind == RenameField || d.Kind == RenameCode {
			barred = append(barred, d.From+" of "+d.Entity+" becomes "+d.To+" in rows that are there")
		}
	}
	slices.Sort(barred)
	return stays, slices.Compact(barred)
}
