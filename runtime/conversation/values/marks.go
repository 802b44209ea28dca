package values

import (
	"strings"

	"verbatim/stores"
)

// Addresses, account numbers and phone numbers are made of signs, and are the
// same in every language.

// raw returns the place in the text where a lexeme begins.
func (s *scan) raw(i int) int { return int(s.tokens[s.lexemes[i].first].start) }

// upTo returns the first lexeme that begins at, or after, a place in the text.
func (s *scan) upTo(i, at int) int {
	for i < len(s.lexemes) && s.raw(i) < at {
		i++
	}
	return i
}

// begins reports that nothing which could belong to it stands before a place.
func (s *scan) begins(at int) bool {
	if at == 0 {
		return true
	}
	c := s.text[at-1]
	return c == ' ' || c == '\n' || c == '\t' || strings.IndexByte("(<[\"',;:", c) >= 0
}

const longestEmail = 254

// email reads an address of the common form, in ASCII.
func (s *scan) email(i int) (Reading, int) {
	at := s.raw(i)
	if s.lexemes[i].means[0].class == mark || !s.begins(at) {
		return Reading{}, i
	}
	text := s.text[at:min(len(s.text), at+longestEmail+1)]
	n := 0
	for n < len(text) && (alnum(text[n]) || strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", text[n]) >= 0) {
		n++
	}
	if n == 0 || n > 64 || n >= len(text) || text[n] != '@' || text[n-1] == '.' || strings.Contains(text[:n], "..") {
		return Reading{}, i
	}
	m := n + 1
	label, dots := 0, 0
	for m < len(text) && (alnum(text[m]) || text[m] == '-' || text[m] == '.') {
		if text[m] == '.' {
			if label == 0 {
				return Reading{}, i
			}
			label, dots = 0, dots+1
		} else {
			label++
		}
		m++
	}
	for m > n && (text[m-1] == '.' || text[m-1] == '-') { // the sentence's own
		m--
	}
	domain := text[n+1 : m]
	top := domain[strings.LastIndexByte(domain, '.')+1:]
	if !strings.Contains(domain, ".") || len(top) < 2 || !letters(top) || m > longestEmail || m < len(text) && (text[m] == '@' || text[m] == '_' || text[m] >= 0x80) {
		return Reading{}, i
	}
	for l := range strings.SplitSeq(domain, ".") {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return Reading{}, i
		}
	}
	return Reading{What: Email, Choice: Choice{Value: stores.NewString(text[:n+1] + strings.ToLower(domain))}}, s.upTo(i, at+m)
}

func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func letters(text string) bool {
	for i := range len(text) {
		if c := lower(text[i]); c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// ibanLengths are the lengths of the IBANs of the countries that have them.
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"

// iban reads an account number, with or without groups.
func (s *scan) iban(i int) (Reading, int) {
	at := s.raw(i)
	if len(s.text)-at < 15 || !s.begins(at) || !letters(s.text[at:at+2]) || s.text[at+2] < '0' || s.text[at+2] > '9' || s.text[at+3] < '0' || s.text[at+3] > '9' {
		return Reading{}, i
	}
	country := strings.ToUpper(s.text[at : at+2])
	k := strings.Index(ibanLengths, country)
	if k < 0 || k%5 != 0 {
		return Reading{}, i
	}
	want := int(ibanLengths[k+2]-'0')*10 + int(ibanLengths[k+3]-'0')
	b := make([]byte, 0, 34)
	end := at
	for end < len(s.text) && len(b) < want {
		c := s.text[end]
		if c == ' ' && end > at && s.text[end-1] != ' ' {
			end++
			continue
		}
		if !alnum(c) {
			break
		}
		b = append(b, c&^(0x20*(c>>6&1)))
		end++
	}
	r := Reading{What: IBAN}
	if len(b) < want || end < len(s.text) && alnum(s.text[end]) {
		// Something else that begins with two letters and two digits, unless it
		// is nearly as long as one.
		if len(b) < want-2 || s.text[at] > 'Z' {
			return Reading{}, i
		}
		for end < len(s.text) && alnum(s.text[end]) {
			end++
		}
		r.Problem = Checksum
		return r, s.upTo(i, end)
	}
	r.Value = stores.NewString(string(b))
	if !checkIBAN(b) {
		r = Reading{What: IBAN, Problem: Checksum}
	}
	return r, s.upTo(i, end)
}

// checkIBAN verifies the check digits of an account number.
func checkIBAN(b []byte) bool {
	rest := 0
	for k := range b {
		switch c := b[(k+4)%len(b)]; {
		case c <= '9':
			rest = (rest*10 + int(c-'0')) % 97
		default:
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}

// callingCodes are the countries' calling codes; none is the beginning of another.
const callingCodes = " 1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 500 501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 678 679 680 681 682 683 685 686 687 688 689 690 691 692 850 852 853 855 856 880 886 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 992 993 994 995 996 998 "

// phone reads "+49 151 555 0199". It accepts no number without its country.
func (s *scan) phone(i int) (Reading, int) {
	at := s.raw(i)
	switch {
	case !s.marked(i, '+', '(') && !(s.are(i, number) && s.text[at] == '0'), !s.begins(at):
		return Reading{}, i
	}
	digits := make([]byte, 0, 16)
	end, groups := at, 0
	depth := 0
	for k := at; k < len(s.text) && len(digits) < 18; k++ {
		c := s.text[k]
		switch {
		case '0' <= c && c <= '9':
			if k > at && (s.text[k-1] < '0' || s.text[k-1] > '9') {
				groups++
			}
			digits = append(digits, c)
			end = k + 1
			continue
		case c == '+' && k == at:
			continue
		case c == '(' && depth == 0 && k+1 < len(s.text):
			depth = 1
			if strings.HasPrefix(s.text[k:], "(0)") && len(digits) > 0 {
				k += 2 // "+44 (0)20": only without the country
				depth = 0
			}
			continue
		case c == ')' && depth == 1:
			depth = 0
			continue
		case (c == ' ' || c == '-' || c == '/' || c == '.') && k > at && s.text[k-1] != c:
			continue
		}
		break
	}
	if end < len(s.text) && (alnum(s.text[end]) || s.text[end] >= 0x80) {
		return Reading{}, i
	}
	r := Reading{What: Phone}
	number := string(digits)
	international := s.marked(i, '+')
	if !international && strings.HasPrefix(number, "00") {
		international, number = true, number[2:]
	}
	if !international {
		// Something with a zero in front and groups behind may be one; no other
		// number is.
		if len(digits) < 8 || len(digits) > 13 || groups == 0 || digits[0] != '0' && !s.marked(i, '(') {
			return Reading{}, i
		}
		r.Problem = NoCountry
		return r, s.upTo(i, end)
	}
	if len(number) < 8 || len(number) > 15 {
		return Reading{}, i
	}
	known := false
	for n := 1; n <= 3; n++ {
		known = known || strings.Contains(callingCodes, " "+number[:n]+" ")
	}
	if !known {
		r.Problem = NoCountry
		return r, s.upTo(i, end)
	}
	r.Value = stores.NewString("+" + number)
	return r, s.upTo(i, end)
}
