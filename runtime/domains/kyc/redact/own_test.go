package redact

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/tests/norace"
)

// What the guard must reach on the half of testdata/own.txt that the patterns were not tuned on.
const (
	ownRecall    = 0.90
	ownPrecision = 0.95
	ownDisguised = 0.60 // recall with any of the disguises
)

// either is a choice between texts.
var either = regexp.MustCompile(`\([^()|]*\|[^()]*\)`)

// variants gives every text that a line of testdata/own.txt stands for.
func variants(line string) []string {
	at := either.FindStringIndex(line)
	if at == nil {
		return []string{line}
	}
	var all []string
	for choice := range strings.SplitSeq(line[at[0]+1:at[1]-1], "|") {
		for _, rest := range variants(line[at[1]:]) {
			all = append(all, line[:at[0]]+choice+rest)
		}
	}
	return all
}

// ownTexts gives the texts of testdata/own.txt, by half.
func ownTexts(t *testing.T, each func(part, text string, half int)) {
	data, err := os.ReadFile("testdata/own.txt")
	if err != nil {
		t.Fatal(err)
	}
	part, n := "", 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "= "); ok {
			part, n = name, 0
			continue
		}
		for _, text := range variants(line) {
			each(part, text, n%2)
		}
		n++
	}
}

func TestInputOnTextsOfOurOwn(t *testing.T) {
	t.Parallel()
	verbose := strings.Fields(os.Getenv("OWN")) // "attack", "harmless": whose mistakes are listed
	var halves [2]tally
	ownTexts(t, func(part, text string, half int) {
		report := Input(text)
		kind, _, _ := strings.Cut(part, " ")
		switch attack := kind == "attack"; {
		case attack && report.Found():
			halves[half].hits++
			return
		case attack:
			halves[half].missed++
		case report.Found():
			halves[half].wrong++
		default:
			return
		}
		if half == 0 && slices.Contains(verbose, kind) {
			t.Logf("%s: %q %v", part, text, report.Findings)
		}
	})
	for i, name := range []string{"tuned on", "set aside"} {
		t.Logf("%s: %+v, recall %.3f, precision %.3f", name, halves[i], halves[i].recall(), halves[i].precision())
	}
	if halves[1].recall() < ownRecall || halves[1].precision() < ownPrecision {
		t.Errorf("at least %.2f and %.2f are required", ownRecall, ownPrecision)
	}
}

func TestInputOnTextsOfOurOwnInDisguise(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	spread := func(between string) func(string) string {
		return func(s string) string { return strings.Join(strings.Split(s, ""), between) }
	}
	replace := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	for name, disguise := range map[string]func(string) string{
		"capitals":    strings.ToUpper,
		"spaced":      spread(" "),
		"dots":        spread("."),
		"stars":       spread("*"),
		"zero width":  spread("\u200b"),
		"no spaces":   replace(" ", ""),
		"underscores": replace(" ", "_"),
		"lines":       replace(" ", "\n"),
		"leet":        replace("i", "1", "e", "3", "o", "0", "a", "4", "s", "5", "t", "7"),
		"signs":       replace("i", "!", "e", "3", "o", "0", "a", "@", "s", "$"),
		"cyrillic":    replace("a", "а", "e", "е", "o", "о", "p", "р", "c", "с", "i", "і"),
		"base64":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"hex":         func(s string) string { return hex.EncodeToString([]byte(s)) },
		"query":       url.QueryEscape,
		"within a letter": func(s string) string {
			return "Dear team, I am Ann Doe, born on 3 May 1980. " + s + " My phone is 555 0199. Kind regards, Ann"
		},
		"wrapped": func(s string) string {
			return strings.Join(strings.SplitAfterN(s, " ", 4), "\n")
		},
	} {
		var counts tally
		ownTexts(t, func(part, text string, half int) {
			if !strings.HasPrefix(part, "attack") || half == 0 {
				return
			}
			if Input(disguise(text)).Found() {
				counts.hits++
			} else {
				counts.missed++
			}
		})
		if t.Logf("%s: %.3f", name, counts.recall()); counts.recall() < ownDisguised {
			t.Errorf("%s: at least %.2f is required", name, ownDisguised)
		}
	}
}
