package whatsapp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/frontends/channel"
)

// with is a text message in which a member stands that is not among those that are read.
func with(member string) string {
	path := strings.Split(strings.TrimPrefix(member, "messages."), ".")
	inner := `"x"`
	for i, name := range slices.Backward(path) {
		if name == "contacts" || name == "phones" {
			inner = "[" + inner + "]"
		}
		if i > 0 {
			inner = fmt.Sprintf(`{%q:%s}`, name, inner)
		}
	}
	text := `"text":{"body":"Yes"}`
	if path[0] == "text" {
		text = `"text":{"body":"Yes",` + strings.TrimPrefix(inner, "{")
		return text
	}
	return text + fmt.Sprintf(`,%q:%s`, path[0], inner)
}

// Each member that is not read does what the list says, and one that nobody knows makes the message
// unsure. // G6
func TestMembersThatAreNotReadDoWhatIsListed(t *testing.T) {
	t.Parallel()
	got := func(a *Adapter, member string) (batch, channel.Facts) {
		b, err := a.decode(wrap(inbox, `"messages":[{"from":"`+person+`","id":"wamid.1","type":"text",`+with(member)+`}]`))
		if err != nil || b.broken > 0 && b.refused == 0 {
			t.Fatalf("%s: %v %+v", member, err, b)
		}
		if len(b.messages) == 0 {
			return b, channel.Facts{}
		}
		return b, b.messages[0].Facts()
	}
	all := map[string]string{"messages.novelty": unsure, "messages.context.novelty": unsure, "messages.text.novelty": unsure}
	counted := map[string]int{}
	for member, does := range listed() {
		if known()[member] {
			t.Errorf("%s is listed, and read", member)
		}
		all[member] = does
		counted[does]++
	}
	if counted[ignore] < 20 || counted[unsure] < 2 || counted[refuse] < 1 || len(counted) != 3 {
		t.Errorf("the list has %v", counted)
	}
	a := adapter(t)
	for member, does := range all {
		b, f := got(a, member)
		switch does {
		case ignore:
			if f.Text != "Yes" || f.Unsure || len(b.unknown) > 0 {
				t.Errorf("%s: %+v %v", member, f, b.unknown)
			}
		case unsure:
			if f.Text != "" || !f.Unsure || strings.HasSuffix(member, "novelty") != (b.unknown[member] == 1) {
				t.Errorf("%s: %+v %v", member, f, b.unknown)
			}
		case refuse:
			if len(b.messages) > 0 || b.refused != 1 {
				t.Errorf("%s: %+v", member, f)
			}
		}
	}
	a.opt.Ignore = []string{"messages.novelty"}
	if _, f := got(a, "messages.novelty"); f.Text != "Yes" || f.Unsure {
		t.Errorf("an ignored member: %+v", f)
	}
	// Where one says refuse, another one changes nothing.
	if does, _ := unread([]byte(`{"group_id":"g","novelty":1,"edited":true,"errors":[]}`), nil); does != refuse {
		t.Error(does)
	}
}
