package guard

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"os"
	"strings"
	"testing"
)

func TestDisguisesOfOurOwn(t *testing.T) {
	data, _ := os.ReadFile("testdata/own.txt")
	spread := func(s, between string) string { return strings.Join(strings.Split(s, ""), between) }
	rep := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	for name, f := range map[string]func(string) string{
		"plain": func(s string) string { return s }, "upper": strings.ToUpper,
		"spaced":  func(s string) string { return spread(s, " ") },
		"dots":    func(s string) string { return spread(s, ".") },
		"zw":      func(s string) string { return spread(s, "\u200b") },
		"nospace": rep(" ", ""), "under": rep(" ", "_"), "lines": rep(" ", "\n"), "lines2": rep(" ", "\r\n\r\n"),
		"leet":  rep("i", "1", "e", "3", "o", "0", "a", "4", "s", "5", "t", "7"),
		"leet2": rep("i", "!", "e", "3", "o", "0", "a", "@", "s", "$"),
		"cyr":   rep("a", "а", "e", "е", "o", "о", "p", "р", "c", "с", "i", "і"),
		"b64":   func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"hex":   func(s string) string { return hex.EncodeToString([]byte(s)) },
		"url":   url.QueryEscape,
		"rot": func(s string) string {
			return strings.Map(func(r rune) rune {
				switch {
				case r >= 'a' && r <= 'z':
					return 'a' + (r-'a'+13)%26
				case r >= 'A' && r <= 'Z':
					return 'A' + (r-'A'+13)%26
				}
				return r
			}, s)
		},
		"wrapped": func(s string) string { // lines of a mail
			out, n := "", 0
			for _, w := range strings.Fields(s) {
				if n += len(w); n > 24 {
					out, n = out+"\n", 0
				}
				out += w + " "
			}
			return out
		},
		"carrier": func(s string) string {
			return "Dear team, my name is Ann Doe and I was born on 3 May 1980. " + s + " My phone is 555 0199. Kind regards, Ann"
		},
		"stars": func(s string) string { return "**" + spread(s, "*") }, "dashes": func(s string) string { return spread(s, "-") },
	} {
		attack, n, half := false, 0, [2]tally{}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "= ") {
				attack, n = strings.HasPrefix(line, "= attack"), 0
			} else if attack && line != "" && line[0] != '#' {
				if Input(f(line)).Found() {
					half[n%2].hits++
				} else {
					half[n%2].missed++
				}
				n++
			}
		}
		t.Logf("%10s %.3f %.3f", name, half[0].recall(), half[1].recall())
	}
}
