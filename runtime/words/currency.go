package words

// currencies are those that have names or signs. The first of a sign that
// several share is no more likely than the others: it is a choice.
var currencies = []struct {
	code  string
	minor int // digits after the point
	names [4][]string
}{
	{"EUR", 2, [4][]string{{"euro", "euros"}, {"euro", "euros"}, {"euro", "euros"}, {"euro", "euros"}}},
	{"USD", 2, [4][]string{{"us dollar", "us dollars"}, {"us dollar"}, {"dollar americain", "dollars americains"}, {"dolar estadounidense", "dolares estadounidenses"}}},
	{"GBP", 2, [4][]string{{"pound sterling", "pounds sterling", "pound", "pounds"}, {"pfund", "britische pfund"}, {"livre sterling", "livres sterling"}, {"libra esterlina", "libras esterlinas"}}},
	{"CHF", 2, [4][]string{{"swiss franc", "swiss francs"}, {"franken", "schweizer franken", "fr"}, {"franc suisse", "francs suisses"}, {"franco suizo", "francos suizos"}}},
	{"JPY", 0, [4][]string{{"yen"}, {"yen"}, {"yen", "yens"}, {"yen", "yenes"}}},
	{"CNY", 2, [4][]string{{"yuan", "renminbi"}, {"yuan", "renminbi"}, {"yuan", "yuans"}, {"yuan", "yuanes"}}},
	{"CAD", 2, [4][]string{{"canadian dollar", "canadian dollars"}, {"kanadische dollar"}, {"dollar canadien", "dollars canadiens"}, {"dolar canadiense", "dolares canadienses"}}},
	{"AUD", 2, [4][]string{{"australian dollar", "australian dollars"}, {"australische dollar"}, {"dollar australien", "dollars australiens"}, {"dolar australiano", "dolares australianos"}}},
	{"SEK", 2, [4][]string{{"swedish krona", "swedish kronor"}, {"schwedische kronen"}, {"couronnes suedoises"}, {"coronas suecas"}}},
	{"NOK", 2, [4][]string{{"norwegian krone", "norwegian kroner"}, {"norwegische kronen"}, {"couronnes norvegiennes"}, {"coronas noruegas"}}},
	{"DKK", 2, [4][]string{{"danish krone", "danish kroner"}, {"danische kronen"}, {"couronnes danoises"}, {"coronas danesas"}}},
	{"PLN", 2, [4][]string{{"zloty", "zlotys"}, {"zloty"}, {"zloty", "zlotys"}, {"zloty", "zlotys"}}},
	{"INR", 2, [4][]string{{"rupee", "rupees"}, {"rupien"}, {"roupies"}, {"rupias"}}},
	{"MXN", 2, [4][]string{{"mexican pesos"}, {"mexikanische pesos"}, {"pesos mexicains"}, {"pesos mexicanos"}}},
	{"BRL", 2, [4][]string{{"brazilian reais"}, {"brasilianische real"}, {"reais"}, {"reales"}}},
	{"CZK", 2, [4][]string{}}, {"HUF", 2, [4][]string{}}, {"RON", 2, [4][]string{}}, {"BGN", 2, [4][]string{}}, {"ISK", 0, [4][]string{}},
	{"TRY", 2, [4][]string{}}, {"ILS", 2, [4][]string{}}, {"AED", 2, [4][]string{}}, {"SAR", 2, [4][]string{}}, {"KWD", 3, [4][]string{}},
	{"BHD", 3, [4][]string{}}, {"OMR", 3, [4][]string{}}, {"JOD", 3, [4][]string{}}, {"TND", 3, [4][]string{}}, {"EGP", 2, [4][]string{}},
	{"ZAR", 2, [4][]string{}}, {"NGN", 2, [4][]string{}}, {"KES", 2, [4][]string{}}, {"MAD", 2, [4][]string{}}, {"XOF", 0, [4][]string{}},
	{"XAF", 0, [4][]string{}}, {"SGD", 2, [4][]string{}}, {"HKD", 2, [4][]string{}}, {"TWD", 2, [4][]string{}}, {"KRW", 0, [4][]string{}},
	{"THB", 2, [4][]string{}}, {"MYR", 2, [4][]string{}}, {"IDR", 2, [4][]string{}}, {"PHP", 2, [4][]string{}}, {"VND", 0, [4][]string{}},
	{"NZD", 2, [4][]string{}}, {"ARS", 2, [4][]string{}}, {"CLP", 0, [4][]string{}}, {"COP", 2, [4][]string{}}, {"PEN", 2, [4][]string{}},
	{"UAH", 2, [4][]string{}}, {"GEL", 2, [4][]string{}}, {"KZT", 2, [4][]string{}}, {"RSD", 2, [4][]string{}}, {"QAR", 2, [4][]string{}},
}

// shared are signs and names that several currencies have.
var shared = map[string][]string{
	"$":       {"USD", "CAD", "AUD"},
	"dollar":  {"USD", "CAD", "AUD"},
	"dollars": {"USD", "CAD", "AUD"},
	"dolar":   {"USD", "CAD", "AUD"},
	"dolares": {"USD", "CAD", "AUD"},
	"bucks":   {"USD", "CAD", "AUD"},
	"kr":      {"SEK", "NOK", "DKK"},
	"kronen":  {"SEK", "NOK", "DKK"},
	"kroner":  {"SEK", "NOK", "DKK"},
	"kronor":  {"SEK", "NOK", "DKK"},
	"¥":       {"JPY", "CNY"},
	"franc":   {"CHF", "XAF", "XOF"},
	"francs":  {"CHF", "XAF", "XOF"},
	"pesos":   {"MXN", "ARS", "CLP", "COP"},
	"€":       {"EUR"},
	"£":       {"GBP"},
	"₹":       {"INR"},
	"₩":       {"KRW"},
	"₺":       {"TRY"},
	"₴":       {"UAH"},
	"zł":      {"PLN"},
}

func minorDigits(code string) int {
	for i := range currencies {
		if currencies[i].code == code {
			return currencies[i].minor
		}
	}
	return 2
}
