package stores

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The quick look says yes to nothing that the long way would spell otherwise, and
// to most of what it spells.
func TestSpeltIsWhatIsSpeltAnew(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		`{"a":1,"b":[true,false,null,-0.50e+7,"x\n\"\\"],"c":{}}`: true,
		`"é – €"`: true, `0`: true, `-1.0`: true, `[]`: true, `""`: true, `{"":0}`: true,
		`{"b":1,"a":1}`: false, `{"a":1,"a":1}`: false, `[1, 2]`: false, ` 1`: false, `1 `: false, `01`: false, `1.`: false, `-`: false, `1e`: false, `[1,]`: false, `{"a"}`: false,
		`{"a":}`: false, `"\u0041"`: false, `"\/"`: false, "\"\u2028\"": false, "\"\u2029\"": false, "\"\x7f\"": false, "\"\t\"": false, `"`: false, `"\`: false, ``: false, `nul`: false, `nulll`: false,
		`{"a\n":1}`: false, `1 2`: false, `[[1]`: false, `{"a":1`: false,
		strings.Repeat("[", maxJSONDepth+1) + strings.Repeat("]", maxJSONDepth+1): true,
		strings.Repeat("[", maxJSONDepth+2) + strings.Repeat("]", maxJSONDepth+2): false,
	} {
		if got := spelt(s); got != want {
			t.Errorf("spelt(%.60q) is %v", s, got)
		}
		agree(t, s)
	}
	letters := []rune(`{}[]:,"\ntru0e1-.+ aé` + "\u2028\u2027€\x7f")
	rapid.Check(t, func(t *rapid.T) {
		agree(t, string(rapid.SliceOf(rapid.SampledFrom(letters)).Draw(t, "text")))
	})
}

func agree(t interface {
	Errorf(string, ...any)
	Helper()
}, s string) {
	t.Helper()
	v, err := respell(s)
	if spelt(s) && utf8.ValidString(s) && (err != nil || v.Text() != s) {
		t.Errorf("%.60q is taken as it stands and would be %.60q, %v", s, v.Text(), err)
	}
	if err == nil && !strings.ContainsAny(v.Text(), `\`) && !spelt(v.Text()) {
		t.Errorf("%.60q is canonical and not seen to be", v.Text())
	}
}

func FuzzSpelt(f *testing.F) {
	for _, s := range []string{`{"a":[1.5e-3,"\n"],"b":null}`, "\"\u2028\"", `[01]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if utf8.ValidString(s) {
			agree(t, s)
		}
	})
}
