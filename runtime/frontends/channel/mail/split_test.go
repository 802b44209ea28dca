package mail

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
)

// What is quoted must never be read as what the sender wrote now.
func TestSplitKeepsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, own string
		unsure    bool
	}{
		"nothing is quoted":              {"Yes, please.\n\nAda", "Yes, please.\n\nAda", false},
		"nothing":                        {"", "", false},
		"a marked quotation above":       {"On Mon, 5 Jan 2026 at 10:12, Bot <bot@umza.example> wrote:\n\n> Shall I?\n> (yes/no)\n\nYes", "Yes", false},
		"a broken introduction":          {"Yes\n\nOn Mon, 5 Jan 2026 at 10:12, Somebody With A Long Name <\nbot@umza.example> wrote:\n\n> Shall I?", "Yes", false},
		"a sentence before it":           {"On second thought: yes.\nOn 5 Jan 2026, at 10:12, Bot <bot@umza.example> wrote:\n\n> Shall I?", "On second thought: yes.", false},
		"a name alone":                   {"Yes\nBot <bot@umza.example> wrote:\n> Shall I?", "Yes", false},
		"a name alone, unmarked":         {"Yes\nBot wrote:\nShall I?", "Yes", true},
		"a date without a mark":          {"Yes\n\nOn Monday, January 5, 2026 at 10:12:33 AM GMT+1, Bot <bot@umza.example> wrote:\n\nShall I?\nNo.", "Yes", false},
		"de, and the name behind":        {"Ja\n\nBot <bot@umza.example> schrieb am Mo., 5. Jan. 2026, 10:12:\n\n> Soll ich?", "Ja", false},
		"de, Yahoo":                      {"Ja\n\nAm Montag, 5. Januar 2026 um 10:12:33 MEZ hat Bot <bot@umza.example> Folgendes geschrieben:\n\nSoll ich?", "Ja", false},
		"fr, with narrow spaces":         {"Oui\n\nLe lun. 5 janv. 2026 à 10:12, Bot <bot@umza.example> a écrit\u202f:\n\n> Dois-je ?", "Oui", false},
		"es":                             {"Sí\n\nEl lun, 5 ene 2026 a las 10:12, Bot (<bot@umza.example>) escribió:\n\n> ¿Debo?", "Sí", false},
		"another language, marked":       {"Ja\n\nOp ma 5 jan. 2026 om 10:12 schreef Bot <bot@umza.example>:\n\n> Zal ik?", "Ja", false},
		"another language, unmarked":     {"Ja\n\nOp ma 5 jan. 2026 om 10:12 schreef Bot <bot@umza.example>:\n\nZal ik?", "Ja", true},
		"Outlook":                        {"Yes\n\nFrom: Bot <bot@umza.example>\nSent: Monday, January 5, 2026 10:12 AM\nTo: Ada\nSubject: Payment\n\nShall I?", "Yes", false},
		"Outlook with a rule":            {"Yes\n________________________________\nFrom: Bot <bot@umza.example>\nSent: Monday, January 5, 2026 10:12 AM\nTo: Ada\nSubject: Payment\n\nShall I?", "Yes", false},
		"GMX":                            {"Ja\n\nGesendet: Montag, 05. Januar 2026 um 10:12 Uhr\nVon: \"Bot\" <bot@umza.example>\nAn: ada@umza.example\nBetreff: Zahlung\nSoll ich?", "Ja", false},
		"Outlook in another language":    {"Ja\n\nVan: Bot <bot@umza.example>\nVerzonden: maandag 5 januari 2026 10:12\nAan: Ada\nOnderwerp: Betaling\n\nZal ik?", "Ja", true},
		"Outlook in Italian":             {"Sì\n\nDa: Bot <bot@umza.example>\nInviato: lunedì 5 gennaio 2026 10:12\nA: Ada\nOggetto: Pagamento\n\nDevo?", "Sì", true}, // G34
		"Outlook in Polish":              {"Tak\n\nOd: Bot <bot@umza.example>\nWysłano: poniedziałek, 5 stycznia 2026 10:12\nDo: Ada\nTemat: Płatność\n\nCzy mam?", "Tak", true},
		"Outlook in Russian":             {"Да\n\nОт: Bot <bot@umza.example>\nОтправлено: понедельник, 5 января 2026 г. 10:12\nКому: Ada\nТема: Платёж\n\nСделать?", "Да", true},
		"half a header":                  {"Yes\n\nFrom: Bot\nTo: Ada\n\nShall I?", "Yes", true},
		"a signature like a header":      {"Yes\n\nAda\nTel: 030 1234567\nFax: 030 1234568\nMail: ada@umza.example", "Yes\n\nAda\nTel: 030 1234567\nFax: 030 1234568\nMail: ada@umza.example", false},
		"the original":                   {"Yes\n\n-----Original Message-----\nFrom: Bot\nShall I?", "Yes", false},
		"an original in another tongue":  {"Ja\n\n-----Oorspronkelijk bericht-----\nVan: Bot\nZal ik?", "Ja", true},
		"passed on":                      {"FYI\n\n---------- Forwarded message ---------\nFrom: Bot <bot@umza.example>\n\nPay them", "FYI", false},
		"passed on without a word":       {"Anfang der weitergeleiteten Nachricht:\n\nVon: Bot\n\nBezahle", "", false},
		"only quoted":                    {"> Shall I?", "", true},
		"an answer below what is marked": {"> Shall I?\n\nYes", "Yes", false},
		"between":                        {"> Pay?\nYes\n> Now?\nNo", "Yes\nNo", true},
		"between, once":                  {"> Pay?\nYes\n> Now?", "Yes", true},
		"above and below":                {"Hello\n> Pay?\nYes", "Hello\nYes", true},
		"in what Outlook quotes":         {"Please see my answers below in red.\n\nFrom: Bot <bot@umza.example>\nSent: Monday, January 5, 2026 10:12 AM\nTo: Ada\nSubject: Payment\n\nShall I? Yes", "Please see my answers below in red.", true},
		"bars":                           {"Yes\n| Shall I?", "Yes", true},
		"a rule":                         {"Yes\n----------\nand more", "Yes\n----------\nand more", true},
		"a rule at the end":              {"Yes\n----------", "Yes\n----------", false},
		"a signature":                    {"Yes\n-- \nAda\nDirector", "Yes", false},
		"a signature above":              {"Yes\n--\nAda\n\nOn 5 Jan 2026, at 10:12, Bot <bot@umza.example> wrote:\n> Shall I?", "Yes", false},
		"nothing but a signature":        {"-- \nAda", "", true},
		"too long a signature":           {"Yes\n-- \n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13", "Yes", true},
		"a telephone":                    {"Yes\n\nSent from my iPhone", "Yes", false},
		"a telephone, de":                {"Ja\n\nVon meinem iPhone gesendet\n\n> Am 05.01.2026 um 10:12 schrieb Bot <bot@umza.example>:\n> \n> Soll ich?", "Ja", false},
		"a telephone, fr":                {"Oui\n\nEnvoyé de mon iPhone", "Oui", false},
		"a telephone, es":                {"Sí\n\nEnviado desde mi iPhone", "Sí", false},
		"Outlook for telephones":         {"Yes\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\nFrom: Bot <bot@umza.example>\nSent: Monday, January 5, 2026 10:12 AM\nTo: Ada\nSubject: Payment\n\nShall I?", "Yes", false},
		"Proton":                         {"Yes\n\nSent with [Proton Mail](https://proton.me/) secure email.\n\nOn Monday, January 5th, 2026 at 10:12, Bot <bot@umza.example> wrote:\n\n> Shall I?", "Yes", false},
		"Samsung":                        {"Oui\n\nEnvoyé de mon Galaxy\n\n\n-------- Message d’origine --------\nDe : Bot <bot@umza.example>\nDate : 05/01/2026 10:12 (GMT+01:00)\nDois-je ?", "Oui", false},
		"Windows":                        {"Sí\n\nEnviado desde Correo para Windows\n\nDe: Bot\nEnviado: lunes, 5 de enero de 2026 10:12\nPara: Ada\nAsunto: Pago\n\n¿Debo?", "Sí", false},
		"Notes":                          {"Yes\n\nBot <bot@umza.example> wrote on 05.01.2026 10:12:33:\n\n> Shall I?", "Yes", false},
		"Zoho":                           {"Yes\n\n---- On Mon, 05 Jan 2026 10:12:33 +0100 Bot <bot@umza.example> wrote ---\n\nShall I?", "Yes", true},
		"three lines introduce":          {"Yes\n\nOn Mon, Jan 5, 2026 at 10:12 AM Bot With A Name\nvia Something <bot@umza.example>\nwrote:\n\n> Shall I?", "Yes", false},
		"Apple, de, with a mark":         {"Ja\n\nAm 05.01.2026 um 10:12 schrieb Bot <bot@umza.example>:\n\n\ufeff\n> Soll ich?", "Ja", false},
		"Outlook for Mac, bold":          {"Ja\n\n*Von: *Bot <bot@umza.example>\n*Datum: *Montag, 5. Januar 2026 um 10:12\n*An: *Ada\n*Betreff: *Zahlung\n\nSoll ich?", "Ja", false},
		"what only begins like one":      {"Sent from my office yesterday: the contract.\nPlease pay it.", "Sent from my office yesterday: the contract.\nPlease pay it.", false},
	} {
		own, _, unsure := Split(c.text)
		if own != c.own || unsure != c.unsure {
			t.Errorf("%s: %q, unsure %v, want %q, %v", name, own, unsure, c.own, c.unsure)
		}
	}
}

// Texts that are made to take long do not. What is measured is the time of the processor, so
// that a busy machine makes no difference.
func TestSplitTakesTimeInProportion(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, line := range []string{"sent from my x\n", "________\n", "> a\n--\n", "On 5 Jan 10:12 a:\n", "From: a\n\n", "a@b.c 10:12:\n", "on 1 wrote\n:\n", "a\n", ":\n", "\n", ">\n", "a <\n", "From: x@y.z 10:12\nTo\n"} {
		begun := processor(t)
		Split(strings.Repeat(line, mostText/16/len(line)))
		if took := processor(t) - begun; took > 5*time.Second {
			t.Errorf("%q takes %v", line, took)
		}
	}
}

// processor is how long this thread has been at work.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// FuzzSplit looks for texts that it cannot divide, and for words that come from nowhere.
func FuzzSplit(f *testing.F) {
	f.Add("Yes\n\nOn Mon, 5 Jan 2026 at 10:12, Bot <bot@umza.example> wrote:\n> no\n-- \nAda")
	f.Add("> a\nb\n> c\n________________\nFrom: x\nTo: y")
	f.Fuzz(func(t *testing.T, text string) {
		own, quoted, _ := Split(text)
		if len(own)+len(quoted) > len(text)*3+8 {
			t.Fatalf("%q became %q and %q", text, own, quoted)
		}
	})
}
