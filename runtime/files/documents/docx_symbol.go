package documents

import (
	"strconv"
	"strings"
	"unicode"
)

// symbol is the character that a symbol of a document (ECMA-376 part 1, 17.3.3.30) shows: its code is one
// of the font's, moved to F000. One that is not known is U+FFFD, so that nobody takes the rest for whole.
func symbol(font, code string) string {
	n, err := strconv.ParseUint(code, 16, 32)
	if err != nil || n == 0 || n > unicode.MaxRune {
		return "\uFFFD"
	}
	if n < 0xF000 || n > 0xF0FF {
		return string(rune(n))
	}
	n -= 0xF000
	shown := []rune(symbols[strings.ToLower(font)])
	for i := 0; i+1 < len(shown); i += 2 {
		if uint64(shown[i]) == n {
			return string(shown[i+1])
		}
	}
	if n > ' ' && n < 0x7F && strings.EqualFold(font, "symbol") { // digits and signs
		return string(rune(n))
	}
	return "\uFFFD"
}

// symbols are the characters of fonts, each after its code.
// Source: Unicode, VENDORS/ADOBE/symbol.txt, 2011; for Wingdings, its marks of lists and choices.
var symbols = map[string]string{
	"symbol": "AΑBΒCΧDΔEΕFΦGΓHΗIΙJϑKΚLΛMΜNΝOΟPΠQΘRΡSΣTΤUΥVςWΩXΞYΨZΖ" +
		"aαbβcχdδeεfφgγhηiιjϕkκlλmμnνoοpπqθrρsσtτuυvϖwωxξyψzζ" +
		"\u00A1ϒ\u00A2′\u00A3≤\u00A4⁄\u00A5∞\u00A6ƒ\u00A7♣\u00A8♦\u00A9♥\u00AA♠\u00AB↔\u00AC←\u00AD↑\u00AE→\u00AF↓" +
		"\u00B0°\u00B1±\u00B2″\u00B3≥\u00B4×\u00B5∝\u00B6∂\u00B7•\u00B8÷\u00B9≠\u00BA≡\u00BB≈\u00BC…\u00BF↵" +
		"\u00C0ℵ\u00C1ℑ\u00C2ℜ\u00C3℘\u00C4⊗\u00C5⊕\u00C6∅\u00C7∩\u00C8∪\u00C9⊃\u00CA⊇\u00CB⊄\u00CC⊂\u00CD⊆\u00CE∈\u00CF∉" +
		"\u00D0∠\u00D1∇\u00D2®\u00D3©\u00D4™\u00D5∏\u00D6√\u00D7⋅\u00D8¬\u00D9∧\u00DA∨\u00DB⇔\u00DC⇐\u00DD⇑\u00DE⇒\u00DF⇓",
	"wingdings": "l●n■o□q❑\u00A7▪\u00A8◻\u00D8➢\u00E0→\u00FB✗\u00FC✓\u00FD☒\u00FE☑",
}
