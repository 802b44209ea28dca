package names

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"verbatim/stores"
)

// maxSlug keeps a name short enough to be typed.
const maxSlug = 48

// Slug makes a name from a label: ASCII letters in lower case and digits, joined by hyphens,
// beginning with a letter. Latin letters lose their marks; other characters are dropped, and a label
// without any letter gives the name of its entity.
func Slug(label, entity string) string {
	b := make([]byte, 0, maxSlug)
	gap := false
	for _, r := range label {
		word := Fold(r)
		if word == "" {
			gap = gap || r < utf8.RuneSelf || r == '\u00a0' || r == '–' || r == '—'
			continue
		}
		if gap && len(b) > 0 {
			b = append(b, '-')
		}
		gap = false
		b = append(b, word...)
		if len(b) > maxSlug {
			// Cut between words, if possible.
			if cut := strings.LastIndexByte(string(b[:maxSlug+1]), '-'); cut > maxSlug/2 {
				b = b[:cut]
			}
			b = b[:min(len(b), maxSlug)]
			break
		}
	}
	name := string(b)
	switch {
	case name == "":
		name = strings.ReplaceAll(entity, "_", "-")
	case name[0] >= '0' && name[0] <= '9':
		name = strings.ReplaceAll(entity, "_", "-") + "-" + name
	}
	return name
}

// Unmarked writes a text in lower case and without the marks of Latin letters, as names are written.
// It keeps the characters that names drop.
func Unmarked(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if word := Fold(r); word != "" {
			b.WriteString(word)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	asciiLetters = "abcdefghijklmnopqrstuvwxyz"
	asciiDigits  = "0123456789"
)

// Fold returns the ASCII letters or the digit for a rune, "" if there is none.
func Fold(r rune) string {
	switch {
	case r >= 'a' && r <= 'z':
		return asciiLetters[r-'a' : r-'a'+1]
	case r >= 'A' && r <= 'Z':
		return asciiLetters[r-'A' : r-'A'+1]
	case r >= '0' && r <= '9':
		return asciiDigits[r-'0' : r-'0'+1]
	case r < 0xc0:
		return ""
	}
	if r >= 0x1ea0 && r <= 0x1ef9 { // Vietnamese, in the order of its letters
		for _, block := range []struct {
			last rune
			is   string
		}{{0x1eb7, "a"}, {0x1ec7, "e"}, {0x1ecb, "i"}, {0x1ee3, "o"}, {0x1ef1, "u"}, {0x1ef9, "y"}} {
			if r <= block.last {
				return block.is
			}
		}
	}
	if i := strings.IndexRune(latin, r); i >= 0 {
		// Each entry of latin is its letters up to the next space, after "=".
		end := strings.IndexByte(latin[i:], ' ') + i
		return latin[strings.LastIndexByte(latin[:end], '=')+1 : end]
	}
	return ""
}

// latin lists letters with marks of the European languages, and their spelling without marks. It is
// short on purpose: a name is a convenience, and a wrong transliteration is worse than a dropped
// letter.
const latin = "ÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎ=a ÆæǢǣ=ae ÇçĆćĈĉĊċČč=c ĎďĐđÐð=d ÈÉÊËèéêëĒēĔĕĖėĘęĚě=e " +
	"ĜĝĞğĠġĢģ=g ĤĥĦħ=h ÌÍÎÏìíîïĨĩĪīĬĭĮįİı=i Ĵĵ=j Ķķĸ=k ĹĺĻļĽľĿŀŁł=l ÑñŃńŅņŇňŉŊŋ=n " +
	"ÒÓÔÕÖØòóôõöøŌōŎŏŐő=o Œœ=oe ŔŕŖŗŘř=r ŚśŜŝŞşŠšȘș=s ẞß=ss ŢţŤťŦŧȚț=t Þþ=th " +
	"ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲų=u Ŵŵ=w ÝÿýŶŷŸ=y ŹźŻżŽž=z "

const (
	// SuffixLength is the length of a whole suffix, 80 bits.
	SuffixLength = 16
	// shownSuffix is the length of the part of a suffix that is shown. This part counts only
	// together with the name.
	shownSuffix = 6
	// suffixLetters spell five bits each; letters that look like digits are left out.
	suffixLetters = "0123456789abcdefghjkmnpqrstvwxyz"
)

// Suffix makes the suffix of a row from its key and the secret of its store.
func Suffix(secret []byte, of *stores.Entity, key stores.Value) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "verbatim name 1\x00%s\x00%s\x00%s", of.Table, key.Kind(), key.Text())
	sum := mac.Sum(nil)
	b := make([]byte, SuffixLength)
	for i := range b {
		bit := i * 5
		word := uint16(sum[bit/8])<<8 | uint16(sum[bit/8+1])
		b[i] = suffixLetters[word>>(11-bit%8)&31]
	}
	return string(b)
}

// Shorten returns a kept symbol as people are shown it: with the shown part of its suffix, and with
// its path.
func Shorten(symbol string) string {
	if at := strings.IndexByte(symbol, '~'); at >= 0 {
		name, path, has := strings.Cut(symbol, ".")
		if symbol = name[:min(len(name), at+1+shownSuffix)]; has {
			symbol += "." + path
		}
	}
	return symbol
}
