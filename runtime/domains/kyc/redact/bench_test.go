package redact

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
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

// hostile are texts that are made to take long.
func hostile(size int) map[string]string {
	texts := map[string]string{}
	for _, unit := range []string{
		"a", "1", " ", "@", "a@", "%", "&", "&amp;", "\\u00", "%25", "aWdu", "69 ", "0x", "ignore ", "ignore all ", "i g n o r e ", "[", "[email]",
		"1 ", "12.", "+1 ", "1-", "0171 ", "415 555 0123 ", "4111 ", "DE89 ", "john ", "john doe ", "born 1.1.1980 ", "12 March ", "a.b@c.", "\u200b", "е", "é", "𝗶", "\xff",
	} {
		texts[unit] = strings.Repeat(unit, size/len(unit)) + "x" // what seemed to be an encoding is none
	}
	return texts
}

// No text takes long because it was made to. What is measured is the time of the processor,
// and the limit is far beyond it: each takes some milliseconds, where a reading whose time
// grows with the square takes seconds. BenchmarkHostile measures a
// megabyte.
func TestHostileTextsAreReadInTime(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for unit, text := range hostile(96 << 10) {
		for name, read := range map[string]func(){
			"Input":  func() { Input(text) },
			"Redact": func() { Redact(text, ann) },
		} {
			begin := processor(t)
			read()
			if took := processor(t) - begin; took > 2*time.Second {
				t.Errorf("%q over and over: %s takes %v", unit, name, took)
			}
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

func BenchmarkHostile(b *testing.B) {
	for unit, text := range hostile(1 << 20) {
		b.Run(unit, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Input(text)
			}
		})
	}
}

func BenchmarkRedact(b *testing.B) {
	answer := "Your file is complete: we have your passport and the statement of 3 May 2025. Ann Doe, phone +41 44 668 18 00, e-mail ann@doe.example, will call you about order 4711 at 10:30. "
	for _, c := range []struct {
		name, text string
		record     Record
	}{
		{"answer", answer, ann},
		{"answers", strings.Repeat(answer, 200), ann},
		{"harmless", strings.Repeat(harmless, 20), Record{}},
		{"digits", strings.Repeat("12 4155 99-1 ", 3000), Record{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Redact(c.text, c.record)
			}
		})
	}
}
