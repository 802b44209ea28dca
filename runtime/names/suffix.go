package names

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"

	"verbatim/stores"
)

const (
	// SuffixLength is that of a whole suffix, 80 bits.
	SuffixLength = 16
	// shownSuffix is how much of a suffix is shown. What is not whole counts only
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

// Shorten is a symbol of a text that is kept, as people are shown it: with the part
// of its suffix that is shown, and its path.
func Shorten(symbol string) string {
	if at := strings.IndexByte(symbol, '~'); at >= 0 {
		name, path, has := strings.Cut(symbol, ".")
		if symbol = name[:min(len(name), at+1+shownSuffix)]; has {
			symbol += "." + path
		}
	}
	return symbol
}
