package guard

import (
	"strings"
	"testing"
	"time"
)

func BenchmarkInput(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"message", "Good morning, I sent the passport of my brother yesterday; can you tell me when it is checked?"},
		{"harmless", strings.Repeat(harmless, 20)},
		{"cyrillic", strings.Repeat("Добрый день, я отправил паспорт вчера. ", 1000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Input(c.text)
			}
		})
	}
}

// hostile are texts that are made to take long, a megabyte each.
func hostile() map[string]string {
	texts := map[string]string{}
	for _, unit := range []string{
		"a", "1", " ", "@", "a@", "%", "&", "&amp;", "\\u00", "%25", "aWdu", "69 ", "0x", "ignore ", "ignore all ", "i g n o r e ", "[", "[email]",
		"1 ", "12.", "+1 ", "1-", "0171 ", "415 555 0123 ", "4111 ", "DE89 ", "john ", "john doe ", "born 1.1.1980 ", "12 March ", "a.b@c.", "\u200b", "е", "é", "𝗶", "\xff",
	} {
		texts[unit] = strings.Repeat(unit, 1<<20/len(unit))
	}
	return texts
}

// No text takes long because it was made to. The limit leaves room for a machine
// that is busy; on an idle one each takes some 50 ms.
func TestHostileTextsAreReadInTime(t *testing.T) {
	for unit, text := range hostile() {
		begin := time.Now()
		Input(text)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("%q a megabyte long: Input takes %v", unit, took)
		} else if testing.Verbose() {
			t.Logf("%q: %v", unit, took)
		}
	}
}
