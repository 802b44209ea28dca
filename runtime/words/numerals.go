package words

import "strings"

// Numbers in words, in plain form.

var smallNumbers = [...]string{
	English: "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
	German:  "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn",
	French:  "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix_sept dix_huit dix_neuf",
	Spanish: "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve",
}

var tens = [...]string{
	English: "twenty thirty forty fifty sixty seventy eighty ninety",
	German:  "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig",
	French:  "vingt trente quarante cinquante soixante",
	Spanish: "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}

// cardinals are the numbers from zero to a hundred, as they are written.
func cardinals(l Language) func(yield func(int, string) bool) {
	small := strings.Fields(strings.ReplaceAll(smallNumbers[l], "_", " "))
	if l == French {
		small = append(small[:17], "dix sept", "dix huit", "dix neuf")
	}
	ten := strings.Fields(tens[l])
	return func(yield func(int, string) bool) {
		say := func(n int, words ...string) bool {
			for _, w := range words {
				if !yield(n, w) || strings.Contains(w, "funf") && !yield(n, strings.ReplaceAll(w, "funf", "fuenf")) || strings.Contains(w, "zwolf") && !yield(n, strings.ReplaceAll(w, "zwolf", "zwoelf")) {
					return false
				}
			}
			return true
		}
		for n, w := range small {
			if !say(n, w) {
				return
			}
		}
		if l == German && !say(2, "zwo") {
			return
		}
		for n := 20; n < 100; n++ {
			var written []string
			t, u := n/10, n%10
			switch l {
			case English:
				written = []string{ten[t-2]}
				if u > 0 {
					written = []string{ten[t-2] + " " + small[u], ten[t-2] + small[u]}
				}
			case German:
				written = []string{ten[t-2]}
				if u == 1 {
					written = []string{"einund" + ten[t-2]}
				} else if u > 0 {
					written = []string{small[u] + "und" + ten[t-2]}
				}
			case French:
				written = frenchTens(n, small, ten)
			case Spanish:
				switch {
				case u == 0:
					written = []string{ten[t-2]}
				case n < 30:
					written = []string{"veinti" + small[u]}
				default:
					written = []string{ten[t-2] + " y " + small[u]}
				}
				if n == 21 {
					written = append(written, "veintiun")
				}
			}
			if !say(n, written...) {
				return
			}
		}
	}
}

func frenchTens(n int, small, ten []string) []string {
	var all []string
	join := func(base string, u int) {
		switch {
		case u == 0:
			all = append(all, base)
		case (u == 1 || u == 11) && base != "quatre vingt":
			all = append(all, base+" et "+small[u], base+" "+small[u])
		default:
			all = append(all, base+" "+small[u])
		}
	}
	switch {
	case n < 70:
		join(ten[n/10-2], n%10)
	case n < 80:
		join("soixante", n-60)
		if n == 70 {
			all = append(all, "septante")
		}
	case n == 80:
		all = []string{"quatre vingts", "quatre vingt", "huitante"}
	default:
		join("quatre vingt", n-80)
		if n == 90 {
			all = append(all, "nonante")
		}
	}
	return all
}

// ordinals are those of the days of a month, as they are written.
func ordinals(l Language) map[int][]string {
	all := map[int][]string{}
	switch l {
	case English:
		first := strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth")
		for i, w := range first {
			all[i+1] = []string{w}
		}
		for i := 1; i < 10; i++ {
			all[20+i] = []string{"twenty " + first[i-1]}
		}
		all[30], all[31] = []string{"thirtieth"}, []string{"thirty first"}
	case German:
		irregular := map[int]string{1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
		for n, w := range cardinals(German) {
			if n < 1 || n > 31 {
				continue
			}
			stem := w + "t"
			if n >= 20 {
				stem = w + "st"
			}
			if s, ok := irregular[n]; ok {
				stem = s
			}
			for _, ending := range []string{"e", "en", "er", "em"} {
				all[n] = append(all[n], stem+ending)
			}
		}
	case French:
		all[1] = []string{"premier", "premiere"}
		for n, w := range map[int]string{2: "deuxieme", 3: "troisieme", 4: "quatrieme"} {
			all[n] = []string{w}
		}
	case Spanish:
		all[1] = []string{"primero", "primer", "primera"}
		for n, w := range map[int][]string{2: {"segundo"}, 3: {"tercer", "tercero"}, 4: {"cuarto"}} {
			all[n] = w
		}
	}
	return all
}
