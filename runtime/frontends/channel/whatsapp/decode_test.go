package whatsapp

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/internal/proven"
)

func wrap(inbox, value string) []byte {
	return []byte(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"` + inbox + `"},` + value + `}}]}]}`)
}

func adapter(t testing.TB) *Adapter {
	t.Helper()
	a, err := New(Options{API: "https://graph.facebook.com/v23.0", Token: "t", Secret: secret, Verify: "v", Numbers: []string{inbox}, Door: nothing{}, Clock: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Each kind of message, as WhatsApp writes it, and the facts of it.
func TestFactsOfMessages(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0a", 32)
	raw, _ := hex.DecodeString(sum)
	base := base64.StdEncoding.EncodeToString(raw)
	file := func(name, kind, sum string) []channel.File {
		return []channel.File{{ID: "77", Type: kind, Name: name, Sum: sum}}
	}
	for name, c := range map[string]struct {
		message string
		want    channel.Facts // beside what all have
	}{
		"text":                    {`"type":"text","text":{"body":"hi"}`, channel.Facts{Kind: proven.Text, Text: "hi"}},
		"a zero byte":             {`"type":"text","text":{"body":"h\u0000i"}`, channel.Facts{Kind: proven.Text, Text: "hi"}},
		"an answer":               {`"type":"text","text":{"body":"hi"},"context":{"from":"15550001111","id":"wamid.q"}`, channel.Facts{Kind: proven.Text, Text: "hi", ReplyTo: "wamid.q"}},
		"forwarded":               {`"type":"text","text":{"body":"pay me"},"context":{"forwarded":true}`, channel.Facts{Kind: proven.Text, Quoted: "pay me", Unsure: true}},
		"forwarded often":         {`"type":"text","text":{"body":"pay me"},"context":{"frequently_forwarded":true}`, channel.Facts{Kind: proven.Text, Quoted: "pay me", Unsure: true}},
		"forwarded picture":       {`"type":"image","image":{"id":"77","mime_type":"image/jpeg","caption":"pay me"},"context":{"forwarded":true}`, channel.Facts{Kind: proven.Image, Quoted: "pay me", Unsure: true, Files: file("", "image/jpeg", "")}},
		"image":                   {`"type":"image","image":{"id":"77","mime_type":"image/jpeg","sha256":"` + base + `","caption":"my pass"}`, channel.Facts{Kind: proven.Image, Text: "my pass", Files: file("", "image/jpeg", sum)}},
		"video":                   {`"type":"video","video":{"id":"77","mime_type":"video/mp4","sha256":"` + strings.ToUpper(sum) + `"}`, channel.Facts{Kind: proven.Video, Files: file("", "video/mp4", sum)}},
		"voice":                   {`"type":"audio","audio":{"id":"77","mime_type":"audio/ogg; codecs=opus","sha256":"none","voice":true}`, channel.Facts{Kind: proven.Audio, Files: file("", "audio/ogg; codecs=opus", "")}},
		"document":                {`"type":"document","document":{"id":"77","mime_type":"application/pdf","sha256":"` + sum + `","filename":"a.pdf","caption":"here"}`, channel.Facts{Kind: proven.Document, Text: "here", Files: file("a.pdf", "application/pdf", sum)}},
		"sticker":                 {`"type":"sticker","sticker":{"id":"77","mime_type":"image/webp","animated":false}`, channel.Facts{Kind: proven.Sticker, Files: file("", "image/webp", "")}},
		"a short sum":             {`"type":"image","image":{"id":"77","mime_type":"image/jpeg","sha256":"0a0a"}`, channel.Facts{Kind: proven.Image, Files: file("", "image/jpeg", "")}},
		"forwarded tap":           {`"type":"button","button":{"payload":"p-1","text":"Stop"},"context":{"forwarded":true}`, channel.Facts{Kind: proven.Text, Quoted: "Stop", Unsure: true}},
		"image without one":       {`"type":"image"`, channel.Facts{Kind: proven.Unknown}},
		"location":                {`"type":"location","location":{"latitude":52.5,"longitude":"13.4","name":"Office","address":"Street 1"}`, channel.Facts{Kind: proven.Location, Quoted: "Office\nStreet 1\n52.5, 13.4"}},
		"location alone":          {`"type":"location","location":{"latitude":-0.5,"longitude":{}}`, channel.Facts{Kind: proven.Location, Quoted: "-0.5"}},
		"contacts":                {`"type":"contacts","contacts":[{"name":{"formatted_name":"Bea"},"phones":[{"phone":"+49 1"},{"phone":"+49 2"}]},{"name":{"formatted_name":"Cem"}}]`, channel.Facts{Kind: proven.Contacts, Quoted: "Bea, +49 1, +49 2\nCem"}},
		"tap on a button":         {`"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"yes","title":"Yes"}},"context":{"id":"wamid.q"}`, channel.Facts{Kind: proven.Text, Text: "Yes", Tapped: "yes", ReplyTo: "wamid.q"}},
		"tap on a row":            {`"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"r1","title":"Passport","description":"of Ada"}}`, channel.Facts{Kind: proven.Text, Text: "Passport", Tapped: "r1"}},
		"tap on something else":   {`"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"body":"Sent"}}`, channel.Facts{Kind: proven.Unknown}},
		"tap on a template":       {`"type":"button","button":{"payload":"p-1","text":"Stop"}`, channel.Facts{Kind: proven.Text, Text: "Stop", Tapped: "p-1"}},
		"reaction":                {`"type":"reaction","reaction":{"message_id":"wamid.q","emoji":"👍"}`, channel.Facts{Kind: proven.Reaction, Text: "👍", ReplyTo: "wamid.q"}},
		"reaction taken back":     {`"type":"reaction","reaction":{"message_id":"wamid.q"}`, channel.Facts{Kind: proven.Reaction, ReplyTo: "wamid.q"}},
		"unsupported":             {`"type":"unsupported","unsupported":{"type":"poll"},"errors":[{"code":131051}]`, channel.Facts{Kind: proven.Unknown}},
		"of tomorrow":             {`"type":"hologram","hologram":{"body":"hi"}`, channel.Facts{Kind: proven.Unknown, Unsure: true}},
		"system":                  {`"type":"system","system":{"body":"Ada changed from +49 1 to +49 2","wa_id":"492","type":"user_changed_number"}`, channel.Facts{Kind: proven.Unknown, Automatic: true, Quoted: "Ada changed from +49 1 to +49 2", Left: []channel.Identity{{Kind: "whatsapp_phone", Subject: "+" + person}}}},
		"another id":              {`"type":"system","system":{"body":"x","previous_user_id":"DE.1","user_id":"DE.2","type":"user_changed_user_id"}`, channel.Facts{Kind: proven.Unknown, Automatic: true, Quoted: "x", Left: []channel.Identity{{Kind: "whatsapp_id", Subject: "DE.1"}}, Became: &channel.Identity{Kind: "whatsapp_id", Subject: "DE.2"}}},
		"another id, of nobody's": {`"type":"system","system":{"body":"x","previous_user_id":"DE.1","type":"user_changed_user_id"}`, channel.Facts{Kind: proven.Unknown, Automatic: true, Quoted: "x", Left: []channel.Identity{{Kind: "whatsapp_id", Subject: "DE.1"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := adapter(t).decode(wrap(inbox, `"contacts":[{"profile":{"name":"Ada"},"wa_id":"`+person+`"}],"messages":[{"from":"`+person+`","id":"wamid.1","timestamp":"`+fmt.Sprint(at.Unix()-5)+`",`+c.message+`}]`))
			if err != nil || got.broken != 0 || len(got.messages) != 1 {
				t.Fatalf("%v %+v", err, got)
			}
			want := c.want
			want.Channel, want.Inbox, want.ID, want.From, want.Name, want.At = "whatsapp", inbox, "wamid.1", person, "Ada", at.Add(-5*time.Second)
			want.Known = []channel.Identity{{Kind: "whatsapp_phone", Subject: "+" + person}}
			if f := got.messages[0].Facts(); !reflect.DeepEqual(f, want) {
				t.Errorf("\n%+v\n%+v", f, want)
			}
		})
	}
}

// A person is known by the id that WhatsApp gives them, and by their number where it is told.
// A contact is theirs only by an id.
func TestWhoSentAMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ contacts, sender, known, from, name string }{
		"number":                       {`{"wa_id":"491511234567","profile":{"name":"Ada"}}`, `"from":"491511234567"`, "whatsapp_phone +491511234567", "491511234567", "Ada"},
		"number, nobody told of":       {``, `"from":"491511234567"`, "whatsapp_phone +491511234567", "491511234567", ""},
		"both":                         {`{"wa_id":"491511234567","user_id":"DE.1","profile":{"name":"Ada"}}`, `"from":"491511234567","from_user_id":"DE.1"`, "whatsapp_id DE.1, whatsapp_phone +491511234567", "491511234567", "Ada"},
		"id, of the contact":           {`{"wa_id":"491511234567","user_id":"DE.1","profile":{"name":"Ada"}}`, `"from":"491511234567"`, "whatsapp_id DE.1, whatsapp_phone +491511234567", "491511234567", "Ada"},
		"number, of the contact":       {`{"wa_id":"491511234567","user_id":"DE.1","profile":{"name":"Ada"}}`, `"from_user_id":"DE.1"`, "whatsapp_id DE.1, whatsapp_phone +491511234567", "491511234567", "Ada"},
		"id alone":                     {`{"user_id":"DE.1","profile":{"username":"ada"}}`, `"from_user_id":"DE.1"`, "whatsapp_id DE.1", "DE.1", "ada"},
		"the second contact":           {`{"wa_id":"491510000000","user_id":"DE.9","profile":{"name":"Bea"}},{"wa_id":"491511234567","user_id":"DE.1"}`, `"from":"491511234567"`, "whatsapp_id DE.1, whatsapp_phone +491511234567", "491511234567", ""},
		"somebody else's contact":      {`{"wa_id":"491510000000","user_id":"DE.9","profile":{"name":"Bea"}}`, `"from":"491511234567"`, "whatsapp_phone +491511234567", "491511234567", ""},
		"a contact that contradicts":   {`{"wa_id":"491511234567","user_id":"DE.9","profile":{"name":"Bea"}}`, `"from":"491511234567","from_user_id":"DE.1"`, "whatsapp_id DE.1, whatsapp_phone +491511234567", "491511234567", ""},
		"a number that contradicts":    {`{"wa_id":"491510000000","user_id":"DE.1","profile":{"name":"Bea"}}`, `"from":"491511234567","from_user_id":"DE.1"`, "whatsapp_id DE.1, whatsapp_phone +491511234567", "491511234567", ""},
		"an empty contact":             {`{"profile":{"name":"Bea"}}`, `"from":"491511234567"`, "whatsapp_phone +491511234567", "491511234567", ""},
		"a number that is none":        {``, `"from":"Ada","from_user_id":"DE.1"`, "whatsapp_id DE.1", "DE.1", ""},
		"a number with a plus":         {``, `"from":"+491511234567","from_user_id":"DE.1"`, "whatsapp_id DE.1", "DE.1", ""},
		"Mexico, as it arrives":        {``, `"from":"5215512345678"`, "whatsapp_phone +5215512345678", "5215512345678", ""},
		"a name with a zero byte":      {`{"wa_id":"491511234567","profile":{"name":"A\u0000da"}}`, `"from":"491511234567"`, "whatsapp_phone +491511234567", "491511234567", "Ada"},
		"a name for the other half":    {`{"wa_id":"491511234567","profile":{"name":"Ada","username":"ada.l"}}`, `"from":"491511234567"`, "whatsapp_phone +491511234567", "491511234567", "Ada"},
		"a number with spaces":         {``, `"from":"49 151 1234567","from_user_id":"DE.1"`, "whatsapp_id DE.1", "DE.1", ""},
		"an empty contact, and an id":  {`{"profile":{"name":"Bea"}}`, `"from_user_id":"DE.1"`, "whatsapp_id DE.1", "DE.1", ""},
		"an id with a zero byte":       {``, `"from":"491511234567","from_user_id":"DE.\u00001"`, "whatsapp_phone +491511234567", "491511234567", ""},
		"the same contact, seen twice": {`{"wa_id":"491511234567","user_id":"DE.1"},{"wa_id":"491511234567","user_id":"DE.1"}`, `"from":"491511234567"`, "whatsapp_id DE.1, whatsapp_phone +491511234567", "491511234567", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := adapter(t).decode(wrap(inbox, `"contacts":[`+c.contacts+`],"messages":[{`+c.sender+`,"id":"wamid.1","type":"text","text":{"body":"hi"}}]`))
			if err != nil || len(got.messages) != 1 {
				t.Fatalf("%v %+v", err, got)
			}
			f := got.messages[0].Facts()
			var known []string
			for _, k := range f.Known {
				known = append(known, k.Kind+" "+k.Subject)
			}
			if strings.Join(known, ", ") != c.known || f.From != c.from || f.Name != c.name {
				t.Errorf("%v %q %q", known, f.From, f.Name)
			}
		})
	}
}

// A clock that is off does not date a message: it came when it came. One that was repeated for
// seven days keeps its date.
func TestWhenAMessageWasSent(t *testing.T) {
	t.Parallel()
	for stamp, want := range map[string]time.Time{
		fmt.Sprint(at.Unix()):                    at,
		fmt.Sprintf("%q", fmt.Sprint(at.Unix())): at,
		fmt.Sprint(at.Unix() - 7*86400):          at.AddDate(0, 0, -7),
		fmt.Sprint(at.Unix() - 8*86400 - 1):      at,
		fmt.Sprint(at.Unix() + 86400):            at.AddDate(0, 0, 1),
		fmt.Sprint(at.Unix() + 86401):            at,
		`"0"`:                                    at, `""`: at, `"soon"`: at, `null`: at, `{}`: at, `-1`: at, `1e9`: at, `"99999999999999999999"`: at, `9223372036854775807`: at, `-9223372036854775808`: at,
		fmt.Sprint(at.UnixMilli()): at,
	} {
		body := `"messages":[{"from":"` + person + `","id":"m","timestamp":` + stamp + `,"type":"text"}],"statuses":[{"id":"m","status":"sent","timestamp":` + stamp + `}]`
		got, err := adapter(t).decode(wrap(inbox, body))
		if err != nil || len(got.messages) != 1 || len(got.statuses) != 1 {
			t.Fatalf("%s: %v %+v", stamp, err, got)
		}
		if f := got.messages[0].Facts(); !f.At.Equal(want) || !got.statuses[0].At.Equal(want) {
			t.Errorf("%s: %v, %v", stamp, f.At, got.statuses[0].At)
		}
	}
}

// Errors of an account are for the operator.
func TestErrorsOfAnAccountAreLogged(t *testing.T) {
	t.Parallel()
	got, err := adapter(t).decode(wrap(inbox, `"errors":[{"code":131031,"title":"locked"},{"code":131031}]`))
	if err != nil || got.errors[131031] != 2 || got.broken != 0 {
		t.Errorf("%v %+v", err, got)
	}
}

// Whatever is signed, decoding ends, and what is passed on has an id and a sender.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`"messages":[{"from":"4915155501990","id":"m","timestamp":"1","type":"text","text":{"body":"hi"}}]`,
		`"contacts":[{"user_id":"DE.1","profile":{"name":"Ada"}}],"messages":[{"from_user_id":"DE.1","id":"m","type":"image","image":{"id":"7","caption":"c"},"context":{"forwarded":true}}]`,
		`"messages":[{"from":"4915155501990","id":"m","type":"location","location":{"latitude":1,"longitude":"2"}},7,null]`,
		`"statuses":[{"id":"m","status":"failed","timestamp":1,"errors":[{"code":131047}]}],"errors":[{"code":1}]`,
		`"messages":[{"from":"4915155501990","id":"m","type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"a","title":"b"}}}]`,
	} {
		f.Add(wrap(inbox, s))
	}
	f.Add([]byte(`{"object":`))
	a := adapter(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := a.decode(body)
		if err != nil && len(got.messages)+len(got.statuses) > 0 {
			t.Fatal(err)
		}
		for _, m := range got.messages {
			if x := m.Facts(); x.ID == "" || x.From == "" || len(x.Known) == 0 || x.Channel == "" || x.Inbox != inbox || x.Kind == "" || x.At.IsZero() ||
				strings.Contains(x.ID+x.Text+x.Quoted+x.Name+x.Tapped+x.ReplyTo+x.From, "\x00") || x.Unsure && x.Text != "" {
				t.Fatalf("%+v", x)
			}
		}
		for _, s := range got.statuses {
			if s.ID == "" || s.State == "" || (s.State == channel.Failed) != (s.Why != nil) {
				t.Fatalf("%+v", s)
			}
		}
		if e, ok := escape(body); ok && len(e) <= len(body) {
			t.Fatal(len(e), len(body))
		}
	})
}
