package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/verbs/explain"
)

func explainCommand(a *app) *cobra.Command {
	var palettes string
	var markdown bool
	cmd := &cobra.Command{
		Use:   "explain [VERB|CODE]",
		Short: "Say what a verb does, or what a diagnostic means",
		Example: `verbatim explain client.add-note
verbatim explain unknown-verb
verbatim explain --markdown client`,
		Long: "A name with a dot is a verb, one without is a code; without a name, all of them are listed.",
		Args: atMost(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var all []string
			if l, err := loadPalettes(a.palettesDir(palettes)); err == nil && l.reg != nil {
				for _, v := range l.reg.Verbs() {
					if !v.Internal { // explained on request, and never suggested
						all = append(all, v.Name+"\t"+v.Description)
					}
				}
			}
			for _, doc := range allCodes() {
				all = append(all, doc.Code)
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case markdown:
				return a.explainPalettes(palettes, args)
			case len(args) == 0:
				return a.explainAll(palettes)
			case strings.Contains(args[0], "."):
				return a.explainVerb(palettes, args[0])
			}
			return a.explainCode(args[0])
		},
	}
	a.palettesFlag(cmd, &palettes)
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the reference of a palette, or of all, as Markdown")
	return cmd
}

func (a *app) explainVerb(palettes, name string) error {
	reg, err := a.palettesFor(palettes, name)
	if err != nil {
		return err
	}
	v := reg.Verb(name)
	if v == nil {
		var names []string
		for _, v := range reg.Verbs() {
			names = append(names, v.Name)
		}
		return &stop{exitUsage, "usage", fmt.Sprintf("there is no verb %q%s", name, didYouMean(name, names)), "verbatim explain lists them"}
	}
	var b bytes.Buffer
	if err := explain.Verb(&b, v); err != nil {
		return err
	}
	if a.json {
		a.emit(struct {
			Schema      string `json:"schema"`
			Verb        string `json:"verb"`
			Description string `json:"description"`
			Text        string `json:"text"`
		}{"verbatim/verb@1", v.Name, v.Description, b.String()})
		return nil
	}
	_, err = a.out.Write(b.Bytes())
	return err
}

func (a *app) explainCode(code string) error {
	docs := allCodes()
	i := slices.IndexFunc(docs, func(d dsl.CodeDoc) bool { return d.Code == code })
	if i < 0 {
		var names []string
		for _, d := range docs {
			names = append(names, d.Code)
		}
		return usage(fmt.Sprintf("there is no code %q%s", code, didYouMean(code, names)), "verbatim explain lists them; a verb has a dot in its name")
	}
	if a.json {
		d := docs[i]
		a.emit(struct {
			Schema  string `json:"schema"`
			Code    string `json:"code"`
			Meaning string `json:"meaning"`
			Wrong   string `json:"wrong"`
			Right   string `json:"right"`
		}{"verbatim/code@1", d.Code, d.Meaning, d.Wrong, d.Right})
		return nil
	}
	return explain.Code(a.out, docs[i])
}

type verbLine struct {
	Verb        string `json:"verb"`
	Description string `json:"description"`
}

type codeLine struct {
	Code    string `json:"code"`
	Meaning string `json:"meaning"`
}

// explainAll lists verbs and codes. Codes need no palettes, so a directory that does not load is
// only reported.
func (a *app) explainAll(palettes string) error {
	vs, cs := []verbLine{}, []codeLine{}
	l, err := loadPalettes(a.palettesDir(palettes))
	if err == nil && l.reg != nil {
		for _, v := range l.reg.Verbs() {
			if !v.Internal {
				vs = append(vs, verbLine{v.Name, v.Description})
			}
		}
	}
	for _, doc := range allCodes() {
		cs = append(cs, codeLine{doc.Code, doc.Meaning})
	}
	if a.json {
		a.emit(struct {
			Schema string     `json:"schema"`
			Verbs  []verbLine `json:"verbs"`
			Codes  []codeLine `json:"codes"`
		}{"verbatim/verbs@1", vs, cs})
		return nil
	}
	switch {
	case err != nil:
		fmt.Fprintf(a.err, "no verbs are listed: %s\n", err)
	case l.reg == nil:
		fmt.Fprintf(a.err, "no verbs are listed: the palettes have mistakes; see verbatim lint\n")
	default:
		fmt.Fprintln(a.out, "verbs")
		width := 0
		for _, v := range vs {
			width = max(width, len(v.Verb))
		}
		for _, v := range vs {
			fmt.Fprintf(a.out, "  %-*s  %s\n", width, v.Verb, firstSentence(v.Description))
		}
		fmt.Fprintln(a.out)
	}
	fmt.Fprintln(a.out, "codes")
	width := 0
	for _, c := range cs {
		width = max(width, len(c.Code))
	}
	for _, c := range cs {
		fmt.Fprintf(a.out, "  %-*s  %s\n", width, c.Code, firstSentence(c.Meaning))
	}
	return nil
}

// firstSentence shortens a text for a list.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, ".")
}

func (a *app) explainPalettes(palettes string, domains []string) error {
	reg, err := a.palettes(palettes)
	if err != nil {
		return err
	}
	var names []string
	var b bytes.Buffer
	found := false
	for _, p := range reg.Palettes() {
		names = append(names, p.Domain)
		if len(domains) > 0 && domains[0] != p.Domain {
			continue
		}
		if found {
			b.WriteByte('\n')
		}
		found = true
		if err := explain.Palette(&b, reg, p); err != nil {
			return err
		}
	}
	if !found {
		return usage(fmt.Sprintf("there is no palette of the domain %q%s", domains[0], didYouMean(domains[0], names)), "the domains are "+strings.Join(names, ", "))
	}
	if a.json {
		a.emit(struct {
			Schema string `json:"schema"`
			Text   string `json:"text"`
		}{"verbatim/reference@1", b.String()})
		return nil
	}
	_, err = a.out.Write(b.Bytes())
	return err
}
