package mail

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/internal/proven"
)

// now is when everything happens in these tests.
var now = time.Date(2026, 1, 5, 9, 20, 0, 0, time.UTC)

// A door keeps what it is handed.
type door struct {
	mu       sync.Mutex
	messages []proven.Facts
	statuses []channel.Status
	err      error
}

func (d *door) Receive(_ context.Context, all ...channel.Message) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range all {
		if d.err == nil {
			d.messages = append(d.messages, m.Facts())
		}
	}
	return d.err
}

func (d *door) Note(_ context.Context, all ...channel.Status) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.statuses = append(d.statuses, all...)
	return d.err
}

// A zone is a DNS of TXT records. A record "!" means that no server answers.
type zone map[string][]string

func (z zone) LookupTXT(ctx context.Context, name string) ([]string, error) {
	all, ok := z[strings.ToLower(strings.TrimSuffix(name, "."))]
	switch {
	case !ok:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	case all[0] == "!":
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	return all, nil
}

func (z zone) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	_, err := z.LookupTXT(ctx, "mx."+name)
	return nil, err
}

func (z zone) LookupIPAddr(ctx context.Context, name string) ([]net.IPAddr, error) {
	_, err := z.LookupTXT(ctx, "a."+name)
	return nil, err
}

func (z zone) LookupAddr(ctx context.Context, name string) ([]string, error) {
	_, err := z.LookupTXT(ctx, "ptr."+name)
	return nil, err
}

// key signs for every domain of the tests; their DNS has it under the selector "s".
var key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))

var keyRecord = "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))

// world is the DNS of the tests.
func world() zone {
	return zone{
		"s._domainkey.umza.example":         {keyRecord},
		"tried._domainkey.umza.example":     {strings.Replace(keyRecord, ";", "; t=s : y;", 1)},
		"calm._domainkey.umza.example":      {strings.Replace(keyRecord, ";", "; t=s; n=y;", 1)},
		"late._domainkey.umza.example":      {"!"},
		"_dmarc.own.relaxed.example":        {"v=DMARC1; p=none; adkim=s; aspf=s"},
		"s._domainkey.mail.umza.example":    {keyRecord},
		"s._domainkey.evil.example":         {keyRecord},
		"s._domainkey.xn--umz-8cd.example":  {keyRecord},
		"s._domainkey.mail.relaxed.example": {keyRecord},
		"s._domainkey.mail.said.example":    {keyRecord},
		"s._domainkey.mail.strict.example":  {keyRecord},
		"s._domainkey.mail.bad.example":     {keyRecord},
		"s._domainkey.mail.late.example":    {keyRecord},
		"s._domainkey.example":              {keyRecord},
		"_dmarc.relaxed.example":            {"v=DMARC1; p=none"},
		"_dmarc.said.example":               {"v=DMARC1; p=reject; adkim=r; aspf=r"},
		"_dmarc.strict.example":             {"v=DMARC1; p=reject; adkim=s; aspf=s"},
		"_dmarc.bad.example":                {"v=DMARC1; p=whatever"},
		"_dmarc.late.example":               {"!"},
		"s._domainkey.mail.odd.example":     {keyRecord},
		"_dmarc.odd.example":                {"google-site-verification=x", "v = DMARC1; p=None ; RI=often; fo=7; adkim=maybe; rua=x"},
		"s._domainkey.mail.reports.example": {keyRecord},
		"_dmarc.reports.example":            {"v=DMARC1; rua=mailto:d@reports.example"},
		"s._domainkey.mail.shout.example":   {keyRecord},
		"_dmarc.shout.example":              {"v=DMARC1; p=NONE; adkim=S"},
		"s._domainkey.mail.two.example":     {keyRecord},
		"_dmarc.two.example":                {"v=DMARC1; p=none", "v=DMARC1; p=reject"},
		"s._domainkey.mail.late-v.example":  {keyRecord},
		"_dmarc.late-v.example":             {"p=none; v=DMARC1"},
		"umza.example":                      {"v=spf1 ip4:192.0.2.1 -all"},
		"relaxed.example":                   {"v=spf1 ip4:192.0.2.1 -all"},
		"mail.relaxed.example":              {"v=spf1 ip4:192.0.2.1 -all"},
		"mail.strict.example":               {"v=spf1 ip4:192.0.2.1 -all"},
		"evil.example":                      {"v=spf1 +all"},
		"soft.example":                      {"v=spf1 ~all"},
		"late.example":                      {"!"},
	}
}

func ours(address string) bool {
	return address == "bot@ours.example" || address == "help@ours.example"
}

// once is a store of tokens.
func once() func(context.Context, string, string, string) (bool, error) {
	var all sync.Map
	return func(_ context.Context, _, token, with string) (bool, error) {
		first, _ := all.LoadOrStore(token, with)
		return first == with, nil
	}
}

func testAdapter(t testing.TB, d *door, change func(*Options)) *Adapter {
	t.Helper()
	if d == nil {
		d = &door{}
	}
	o := Options{Domain: "ours.example", Inboxes: ours, Door: d, Clock: func() time.Time { return now }, DNS: world(), AuthServID: "mx.ours.example", Plain: true, SigningKey: "secret", Once: once()}
	if change != nil {
		change(&o)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// plain is a mail that nobody signed.
const plain = "From: Ada Lovelace <Ada@Umza.example>\r\nTo: bot@ours.example, Bob <bob@umza.example>\r\nCc: help@ours.example\r\nSubject: Re: Payment\r\n" +
	"Date: Mon, 5 Jan 2026 10:20:00 +0100\r\nMessage-ID: <m1@umza.example>\r\nIn-Reply-To: <d2@ours.example>\r\nReferences: <d1@ours.example>\r\n <d2@ours.example>\r\n" +
	"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nYes\r\n"

// signed signs a mail for a domain. Some headers, or all, where it names none.
func signed(t testing.TB, mail, domain, selector string, headers ...string) string {
	t.Helper()
	var b bytes.Buffer
	err := dkim.Sign(&b, strings.NewReader(mail), &dkim.SignOptions{Domain: domain, Selector: selector, Signer: key, HeaderKeys: headers,
		HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// taken is what an adapter makes of a mail.
func taken(t testing.TB, in arrival, change func(*Options)) proven.Facts {
	t.Helper()
	d := &door{}
	if in.inboxes == nil {
		in.inboxes = []string{"bot@ours.example"}
	}
	if err := testAdapter(t, d, change).take(t.Context(), in); err != nil || len(d.messages) != 1 {
		t.Fatal(err, d.messages)
	}
	return d.messages[0]
}

// The facts of a mail are those of its header, and where it lies they are ours.
func TestFactsAreThoseOfTheMail(t *testing.T) {
	t.Parallel()
	f := taken(t, arrival{raw: []byte(signed(t, plain, "umza.example", "s"))}, nil)
	want := proven.Facts{Channel: "mail", Inbox: "bot@ours.example", ID: "<m1@umza.example>", Known: []proven.Identity{{Kind: "email", Subject: "ada@umza.example"}}, From: "Ada@Umza.example",
		Name: "Ada Lovelace", At: now, Kind: "text", Text: "Yes", ReplyTo: "<d2@ours.example>", Thread: "<d1@ours.example>", References: []string{"<d1@ours.example>", "<d2@ours.example>"},
		Subject: "Re: Payment", Others: []string{"bob@umza.example", "help@ours.example"}}
	f.At = f.At.UTC()
	if fmt.Sprintf("%+v", f) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v\nwant\n%+v", f, want)
	}
	long := "<" + strings.Repeat("x", 300) + "@umza.example>"
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("<%d@x>", i))
	}
	crowd := strings.Repeat("u@umza.example, ", 3)
	for i := range 80 {
		crowd += fmt.Sprintf("u%d@umza.example, ", i)
	}
	edit := func(old, new string) string { return strings.Replace(plain, old, new, 1) }
	for name, c := range map[string]struct {
		mail string
		is   func(proven.Facts) bool
	}{
		"no ID":                   {edit("Message-ID: <m1@umza.example>\r\n", ""), func(f proven.Facts) bool { return strings.HasPrefix(f.ID, "sha256:") && len(f.ID) == 71 }},
		"an ID that is too long":  {edit("<m1@umza.example>", long), func(f proven.Facts) bool { return strings.HasPrefix(f.ID, "sha256:") }},
		"an ID that is none":      {edit("<m1@umza.example>", "m1"), func(f proven.Facts) bool { return strings.HasPrefix(f.ID, "sha256:") }},
		"an answer without chain": {edit("References: <d1@ours.example>\r\n <d2@ours.example>\r\n", ""), func(f proven.Facts) bool { return f.Thread == "<d2@ours.example>" }},
		"the first of a thread":   {edit("In-Reply-To: <d2@ours.example>\r\nReferences: <d1@ours.example>\r\n <d2@ours.example>\r\n", ""), func(f proven.Facts) bool { return f.Thread == f.ID && f.ReplyTo == "" }},
		"a long chain": {edit("<d1@ours.example>\r\n <d2@ours.example>", strings.Join(many, " ")), func(f proven.Facts) bool {
			return len(f.References) == 20 && f.Thread == "<0@x>" && f.References[19] == "<29@x>" && f.References[1] == "<11@x>"
		}},
		"a crowd":                  {edit("bot@ours.example, ", crowd), func(f proven.Facts) bool { return len(f.Others) == 50 && f.Others[1] == "u0@umza.example" }},
		"an address of nobody's":   {edit("bot@ours.example, ", "u@a_b.example, "), func(f proven.Facts) bool { return len(f.Others) == 2 && f.Others[0] == "bob@umza.example" }},
		"a clock a day ahead":      {edit("Mon, 5 Jan 2026 10:20:00 +0100", "Tue, 6 Jan 2026 10:20:01 +0100"), func(f proven.Facts) bool { return f.At.Equal(now) }},
		"a clock nearly as late":   {edit("Mon, 5 Jan 2026 10:20:00 +0100", "Sun, 4 Jan 2026 10:20:00 +0100"), func(f proven.Facts) bool { return f.At.Equal(now.Add(-24 * time.Hour)) }},
		"a clock that is broken":   {edit("Mon, 5 Jan 2026 10:20:00 +0100", "yesterday"), func(f proven.Facts) bool { return f.At.Equal(now) }},
		"an encoded subject":       {edit("Re: Payment", "=?utf-8?q?Zahlung_f=C3=BCr?= =?iso-8859-1?q?_M=FCller=0D=0AX:_y?="), func(f proven.Facts) bool { return f.Subject == "Zahlung für Müller X: y" }},
		"Reply-To is not answered": {edit("Subject:", "Reply-To: eve@evil.example\r\nSubject:"), func(f proven.Facts) bool { return f.From == "Ada@Umza.example" }},
		"an address with quotes":   {edit("<Ada@Umza.example>", `<"a b"@umza.example>`), func(f proven.Facts) bool { return f.From == `"a b"@umza.example` }},
	} {
		if f := taken(t, arrival{raw: []byte(c.mail)}, nil); !c.is(f) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// Somebody who forges a mail is nobody. SAFE-H3
func TestForgedMailIsFromAStranger(t *testing.T) {
	t.Parallel()
	good := signed(t, plain, "umza.example", "s")
	edit := func(old, new string) string { return strings.Replace(plain, old, new, 1) }
	tag := func(old, new string) string { // a signature of our own, with a tag that the library does not write
		return resigned(t, plain, old, new)
	}
	results := "Authentication-Results: mx.ours.example; spf=pass smtp.mailfrom=umza.example\r\n"
	for name, in := range map[string]arrival{ // SAFE-H3
		"nobody signed":                       {raw: []byte(plain)},
		"two From":                            {raw: []byte("From: eve@evil.example\r\n" + good)},
		"two From, both signed":               {raw: []byte(signed(t, "From: eve@evil.example\r\n"+plain, "umza.example", "s"))},
		"a prepended Subject":                 {raw: []byte("Subject: Pay Eve\r\n" + good)},
		"a prepended Subject, signed once":    {raw: []byte("Subject: Pay Eve\r\n" + signed(t, plain, "umza.example", "s", "From", "Subject", "Date", "Message-ID", "Content-Type"))},
		"a prepended Reply-To":                {raw: []byte("Reply-To: eve@evil.example\r\n" + good)},
		"a prepended Content-Type":            {raw: []byte("Content-Type: text/html\r\n" + good)},
		"a prepended To":                      {raw: []byte("To: bot@ours.example\r\n" + good)},
		"a Subject that nobody signed":        {raw: []byte(signed(t, plain, "umza.example", "s", "From", "Date"))},
		"a Date that nobody signed":           {raw: []byte(signed(t, plain, "umza.example", "s", "From", "Subject"))},
		"From in other letters":               {raw: []byte("FROM : eve@evil.example\r\n" + good)},
		"a line before the header":            {raw: []byte("hello\r\n" + good)},
		"a continued first line":              {raw: []byte(" From: eve@evil.example\r\n" + good)},
		"a bare CR":                           {raw: []byte("X-A: b\rFrom: eve@evil.example\r\n" + good)},
		"a NUL":                               {raw: []byte("X-A: b\x00\r\n" + good)},
		"a body that changed":                 {raw: []byte(strings.Replace(good, "\r\n\r\nYes", "\r\n\r\nYes, and pay Eve", 1))},
		"a From that changed":                 {raw: []byte(strings.Replace(good, "Ada Lovelace <Ada@", "Ada Lovelace <Bob@", 1))},
		"l=":                                  {raw: []byte(tag("d=", "l=2; d="))},
		"l= and more text":                    {raw: []byte(tag("d=", "l=2; d=") + "Pay Eve\r\n")},
		"From is not signed":                  {raw: []byte(tag("h=From:", "h="))},
		"it has expired":                      {raw: []byte(tag("d=", "x=1767604799; d="))},
		"signed by another domain":            {raw: []byte(signed(t, plain, "evil.example", "s"))},
		"signed by a subdomain, no policy":    {raw: []byte(signed(t, plain, "mail.umza.example", "s"))},
		"signed by a subdomain, strict":       {raw: []byte(signed(t, edit("Umza.example", "strict.example"), "mail.strict.example", "s"))},
		"signed by a subdomain, STRICT":       {raw: []byte(signed(t, edit("Umza.example", "shout.example"), "mail.shout.example", "s"))},
		"signed by a subdomain, two policies": {raw: []byte(signed(t, edit("Umza.example", "two.example"), "mail.two.example", "s"))},
		"signed by a subdomain, no version":   {raw: []byte(signed(t, edit("Umza.example", "late-v.example"), "mail.late-v.example", "s"))},
		"signed by a subdomain, bad policy":   {raw: []byte(signed(t, edit("Umza.example", "bad.example"), "mail.bad.example", "s"))},
		"signed by the top level":             {raw: []byte(signed(t, plain, "example", "s"))},
		"a key that is tried out":             {raw: []byte(signed(t, plain, "umza.example", "tried"))},
		"no such key":                         {raw: []byte(signed(t, plain, "umza.example", "none"))},
		"a name like the address":             {raw: []byte(signed(t, edit("Ada Lovelace <Ada@Umza.example>", `"ada@umza.example" <eve@evil.example>`), "umza.example", "s"))},
		"an unlisted ARC sealer":              {raw: []byte("ARC-Seal: i=1; a=rsa-sha256; cv=none; d=umza.example; s=s; b=YQ==\r\nARC-Authentication-Results: i=1; mx.ours.example; spf=pass smtp.mailfrom=umza.example\r\n" + plain), relayed: true},
		"two addresses":                       {raw: []byte(signed(t, edit("<Ada@Umza.example>", "<Ada@Umza.example>, eve@evil.example"), "umza.example", "s"))},
		"two addresses, the other first":      {raw: []byte(signed(t, edit("Ada Lovelace <", "eve@evil.example, Ada <"), "umza.example", "s"))},
		"a group":                             {raw: []byte(signed(t, edit("Ada Lovelace <Ada@Umza.example>", "us: ada@umza.example;"), "umza.example", "s"))},
		"no address":                          {raw: []byte(signed(t, edit("Ada Lovelace <Ada@Umza.example>", "Ada"), "umza.example", "s"))},
		"no From":                             {raw: []byte(edit("From: Ada Lovelace <Ada@Umza.example>\r\n", ""))},
		"results of nobody's":                 {raw: []byte(results + plain)},
		"results through our port":            {raw: []byte(results + plain), ip: addr("192.0.2.9"), envelope: "ada@umza.example"},
		"results of another server":           {raw: []byte("Authentication-Results: mx.evil.example; spf=pass smtp.mailfrom=umza.example\r\n" + plain), relayed: true},
		"results below those of another":      {raw: []byte("Authentication-Results: mx.evil.example; spf=pass smtp.mailfrom=evil.example\r\n" + results + plain), relayed: true},
		"results below ours":                  {raw: []byte("Authentication-Results: mx.ours.example; spf=fail smtp.mailfrom=umza.example\r\n" + results + plain), relayed: true},
		"results of another domain":           {raw: []byte("Authentication-Results: mx.ours.example; spf=pass smtp.mailfrom=evil.example\r\n" + plain), relayed: true},
		"results that contradict":             {raw: []byte("Authentication-Results: mx.ours.example; spf=fail smtp.mailfrom=umza.example; spf=pass smtp.mailfrom=umza.example\r\n" + plain), relayed: true},
		"results of a name alone":             {raw: []byte("Authentication-Results: mx.ours.example; spf=pass smtp.helo=umza.example\r\n" + plain), relayed: true},
		"results within quotes":               {raw: []byte("Authentication-Results: mx.ours.example; spf=none smtp.mailfrom=\"; spf=pass smtp.mailfrom=umza.example; x\"@evil.example\r\n" + plain), relayed: true},
		"results within a comment":            {raw: []byte("Authentication-Results: mx.ours.example; x=y (; spf=pass smtp.mailfrom=umza.example)\r\n" + plain), relayed: true},
		"results that are malformed":          {raw: []byte("Authentication-Results: mx.ours.example; spf=pass smtp.mailfrom=umza.example; x\r\n" + plain), relayed: true},
		"results of two":                      {raw: []byte("Authentication-Results: mx.ours.example; spf=pass smtp.mailfrom=evil.example; spf=pass smtp.mailfrom=umza.example\r\n" + plain), relayed: true},
		"results of a stranger, relaxed":      {raw: []byte("Authentication-Results: mx.ours.example; spf=pass smtp.mailfrom=evil.example\r\n" + edit("Umza.example", "relaxed.example")), relayed: true},
		"signed by a neighbour, strict":       {raw: []byte(signed(t, edit("Umza.example", "own.relaxed.example"), "mail.relaxed.example", "s"))},
		"a server that may, a long header":    {raw: []byte(strings.Replace(plain, "MIME-", "X-A: "+strings.Repeat("x", mostHeader)+"\r\nMIME-", 1)), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"a server that may, too many fields":  {raw: []byte(strings.Replace(plain, "MIME-", strings.Repeat("X-A: b\r\n", mostFields)+"MIME-", 1)), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"a server that may, and a group":      {raw: []byte(edit("Ada Lovelace <Ada@Umza.example>", "us: ada@umza.example;")), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"a server that may, and a bare CR":    {raw: []byte("X-A: b\rFrom: eve@evil.example\r\n" + plain), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"a server that may, and FROM":         {raw: []byte("FROM : eve@evil.example\r\n" + plain), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"a server that may, and a line":       {raw: []byte("hello\r\n" + plain), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"a server that may, a continued line": {raw: []byte(" hello\r\n" + plain), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"a server that may, a nameless field": {raw: []byte(": hello\r\n" + plain), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"results that do not end":             {raw: []byte("Authentication-Results: mx.ours.example; spf=pass smtp.mailfrom=umza.example (\r\n" + plain), relayed: true},
		"results that only know DKIM":         {raw: []byte("Authentication-Results: mx.ours.example; dkim=pass header.d=umza.example; dmarc=pass header.from=umza.example\r\n" + plain), relayed: true},
		"a server that may not":               {raw: []byte(plain), ip: addr("192.0.2.9"), envelope: "ada@umza.example", helo: "umza.example"},
		"an envelope of another domain":       {raw: []byte(plain), ip: addr("192.0.2.1"), envelope: "eve@evil.example", helo: "umza.example"},
		"no envelope":                         {raw: []byte(plain), ip: addr("192.0.2.1"), helo: "umza.example"},
		"an envelope of two domains":          {raw: []byte(plain), ip: addr("192.0.2.9"), envelope: "x@evil.example@umza.example"},
		"an envelope of a subdomain, strict":  {raw: []byte(edit("Umza.example", "strict.example")), ip: addr("192.0.2.1"), envelope: "a@mail.strict.example"},
		"a policy that is soft":               {raw: []byte(edit("Umza.example", "soft.example")), ip: addr("192.0.2.1"), envelope: "a@soft.example"},
		"a server that may, but it is a hop":  {raw: []byte(plain), ip: addr("192.0.2.1"), envelope: "ada@umza.example", relayed: true},
		"a server that may, and two Subjects": {raw: []byte("Subject: x\r\n" + plain), ip: addr("192.0.2.1"), envelope: "ada@umza.example"},
		"a header that is too long":           {raw: []byte(signed(t, "X-A: "+strings.Repeat("x", mostHeader)+"\r\n"+plain, "umza.example", "s", "From", "Subject", "Date", "Reply-To"))},
		"a header of too many fields":         {raw: []byte(signed(t, strings.Repeat("X-A: b\r\n", mostFields)+plain, "umza.example", "s", "From", "Subject", "Date", "Reply-To"))},
		"a signature that is too long":        {raw: []byte(signed(t, plain, "umza.example", "s", append(slices.Repeat([]string{"X-A"}, 3000), "From", "Subject", "Date", "Reply-To")...))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &door{}
			in.inboxes = []string{"bot@ours.example"}
			if err := testAdapter(t, d, nil).take(t.Context(), in); errors.Is(err, errNobody) && len(d.messages) == 0 {
				return // nobody could be answered
			} else if err != nil || len(d.messages) != 1 || d.messages[0].Known != nil {
				t.Errorf("%v: %+v", err, d.messages)
			}
		})
	}
	// It has expired by our clock. SAFE-H3
	late := arrival{raw: []byte(resigned(t, plain, "d=", "x=4102444800; d="))}
	if f := taken(t, late, func(o *Options) { o.Clock = func() time.Time { return time.Unix(4102444801, 0) } }); f.Known != nil {
		t.Errorf("%+v", f.Known)
	}
	// A domain that looks alike is another. SAFE-H3
	alike := signed(t, edit("Ada@Umza.example", "ada@umzа.example"), "xn--umz-8cd.example", "s")
	if f := taken(t, arrival{raw: []byte(alike)}, nil); len(f.Known) != 1 || f.Known[0].Subject != "ada@xn--umz-8cd.example" {
		t.Errorf("%+v", f.Known)
	}
	// Without a name of our own, no results are believed.
	if f := taken(t, arrival{raw: []byte("Authentication-Results: ; spf=pass smtp.mailfrom=umza.example\r\n" + plain), relayed: true}, func(o *Options) { o.AuthServID = "" }); f.Known != nil {
		t.Errorf("%+v", f.Known)
	}
}

// What proves a sender does so, and says what it leaves open.
func TestDomainsVouchForTheirOwn(t *testing.T) {
	t.Parallel()
	edit := func(old, new string) string { return strings.Replace(plain, old, new, 1) }
	some := []string{"From", "Subject", "Date"}
	with := func(more ...string) []string { return append(some[:3:3], more...) }
	for name, c := range map[string]struct {
		in             arrival
		loose, unnamed bool
	}{
		"DKIM":                               {in: arrival{raw: []byte(signed(t, plain, "umza.example", "s"))}},
		"DKIM with comments":                 {in: arrival{raw: []byte(signed(t, edit("Ada Lovelace <Ada@Umza.example>", `"Lovelace, Ada: x" (her @ name) <ada@umza.example>`), "umza.example", "s"))}},
		"DKIM beside a long field":           {in: arrival{raw: []byte(signed(t, "X-A: "+strings.Repeat("x", 2*mostField)+"\r\n\ty\r\n"+plain, "umza.example", "s"))}},
		"DKIM of a key in use":               {in: arrival{raw: []byte(signed(t, plain, "umza.example", "calm"))}},
		"DKIM, in capital letters":           {in: arrival{raw: []byte(signed(t, plain, "UMZA.example", "s"))}},
		"DKIM beside that of a list":         {in: arrival{raw: []byte(signed(t, signed(t, plain, "umza.example", "s"), "evil.example", "s"))}},
		"DKIM beside one that is broken":     {in: arrival{raw: []byte("DKIM-Signature: v=1; d=umza.example\r\n" + signed(t, plain, "umza.example", "s"))}},
		"DKIM that has not expired":          {in: arrival{raw: []byte(resigned(t, plain, "d=", "x=4102444800; d="))}},
		"DKIM of a subdomain, relaxed":       {in: arrival{raw: []byte(signed(t, edit("Umza.example", "relaxed.example"), "mail.relaxed.example", "s"))}},
		"DKIM of a subdomain, said":          {in: arrival{raw: []byte(signed(t, edit("Umza.example", "said.example"), "mail.said.example", "s"))}},
		"DKIM of a subdomain, odd record":    {in: arrival{raw: []byte(signed(t, edit("Umza.example", "odd.example"), "mail.odd.example", "s"))}},         // G72
		"DKIM of a subdomain, reports only":  {in: arrival{raw: []byte(signed(t, edit("Umza.example", "reports.example"), "mail.reports.example", "s"))}}, // G72
		"DKIM of a neighbour, relaxed":       {in: arrival{raw: []byte(signed(t, edit("Umza.example", "www.relaxed.example"), "mail.relaxed.example", "s"))}},
		"DKIM without Content-Type":          {in: arrival{raw: []byte(signed(t, plain, "umza.example", "s", with("Message-ID")...))}, loose: true},
		"DKIM without Message-ID":            {in: arrival{raw: []byte(signed(t, plain, "umza.example", "s", with("Content-Type")...))}, unnamed: true},
		"SPF":                                {in: arrival{raw: []byte(plain), ip: addr("192.0.2.1"), envelope: "bounces@umza.example"}},
		"SPF of a subdomain, relaxed":        {in: arrival{raw: []byte(edit("Umza.example", "relaxed.example")), ip: addr("192.0.2.1"), envelope: "x@mail.relaxed.example"}},
		"results of ours":                    {in: arrival{raw: []byte("Authentication-Results: MX.ours.example 1; spf=pass (a; b) smtp.mailfrom=ada@umza.example; dkim=fail header.b=\"x\"\r\n" + plain), relayed: true}},
		"results of ours, of a domain alone": {in: arrival{raw: []byte("Received: x\r\nAuthentication-Results: mx.ours.example;\r\n spf=pass smtp.mailfrom=umza.example\r\n" + plain), relayed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := taken(t, c.in, nil)
			if len(f.Known) != 1 || f.Known[0].Kind != "email" || !strings.HasSuffix(f.Known[0].Subject, ".example") {
				t.Fatalf("%+v", f.Known)
			}
			if f.Unsure != c.loose || (f.ID != "<m1@umza.example>") != c.unnamed {
				t.Errorf("unsure %v, ID %s", f.Unsure, f.ID)
			}
		})
	}
	// Others without a Message-ID are others.
	nameless := edit("Message-ID: <m1@umza.example>\r\n", "")
	ids := map[string]bool{}
	for _, mail := range []string{nameless, strings.Replace(nameless, "Re: Payment", "Payment", 1), strings.Replace(nameless, "\r\n\r\nYes", "\r\n\r\nNo", 1), strings.Replace(nameless, "10:20:00", "10:20:01", 1)} {
		ids[taken(t, arrival{raw: []byte(mail)}, nil).ID] = true
	}
	if len(ids) != 4 {
		t.Errorf("%v", ids)
	}
	// A mail whose Message-ID is not signed is the same mail under any other.
	once := signed(t, plain, "umza.example", "s", with("Content-Type")...)
	again := "Received: by x\r\n" + strings.Replace(once, "<m1@", "<m2@", 1)
	if a, b := taken(t, arrival{raw: []byte(once)}, nil), taken(t, arrival{raw: []byte(again)}, nil); b.Known == nil || a.ID != b.ID {
		t.Errorf("%s and %s", a.ID, b.ID)
	}
}

// Where the DNS does not answer, a mail is sent again, and nobody is known meanwhile.
func TestSilentDNSIsAskedAgain(t *testing.T) {
	t.Parallel()
	edit := func(old, new string) string { return strings.Replace(plain, old, new, 1) }
	for name, in := range map[string]arrival{
		"no key":    {raw: []byte(signed(t, plain, "umza.example", "late"))},
		"no policy": {raw: []byte(signed(t, edit("Umza.example", "late.example"), "mail.late.example", "s"))},
		"no SPF":    {raw: []byte(edit("Umza.example", "late.example")), ip: addr("192.0.2.1"), envelope: "x@late.example"},
	} {
		d := &door{}
		in.inboxes = []string{"bot@ours.example"}
		if err := testAdapter(t, d, nil).take(t.Context(), in); !errors.Is(err, errLater) || len(d.messages) > 0 {
			t.Errorf("%s: %v, %+v", name, err, d.messages)
		}
	}
	// What others' servers do not answer is none of our business.
	if f := taken(t, arrival{raw: []byte(signed(t, edit("Umza.example", "evil.example"), "umza.example", "late"))}, nil); f.Known != nil {
		t.Errorf("%+v", f.Known)
	}
	in := arrival{raw: []byte(plain), ip: addr("192.0.2.1"), envelope: "x@late.example"}
	if f := taken(t, in, nil); f.Known != nil {
		t.Errorf("%+v", f.Known)
	}
	// What is proven otherwise needs no other answer.
	two := signed(t, signed(t, plain, "umza.example", "s"), "umza.example", "late")
	if f := taken(t, arrival{raw: []byte(two)}, nil); f.Known == nil {
		t.Error("nobody is known")
	}
	// Other records of the DNS fail as TXT does.
	z := world()
	z["umza.example"], z["mx.umza.example"], z["a.umza.example"] = []string{"v=spf1 mx -all"}, []string{"!"}, []string{"!"}
	for _, record := range []string{"v=spf1 mx -all", "v=spf1 a -all"} {
		z["umza.example"] = []string{record}
		in := arrival{raw: []byte(plain), ip: addr("192.0.2.1"), envelope: "x@umza.example", inboxes: []string{"bot@ours.example"}}
		if err := testAdapter(t, nil, func(o *Options) { o.DNS = z }).take(t.Context(), in); !errors.Is(err, errLater) {
			t.Errorf("%s: %v", record, err)
		}
	}
	p := &patient{Resolver: zone{"ptr.1": {"!"}}}
	if _, _ = p.LookupAddr(t.Context(), "1"); !p.failed.Load() {
		t.Error("a lost PTR is an answer")
	}
}

// What machines send is marked, so that nobody answers it.
func TestMachinesAreNotAnswered(t *testing.T) {
	t.Parallel()
	edit := func(old, new string) string { return strings.Replace(plain, old, new, 1) }
	for _, header := range []string{"Auto-Submitted: auto-replied", "Auto-Submitted: auto-generated; x=y", "Precedence: bulk", "Precedence: List", "Precedence: junk", "List-Id: <x>", "List-Unsubscribe: <x>",
		"X-Auto-Response-Suppress: All", "X-Autoreply: yes", "X-Autorespond: yes"} {
		if f := taken(t, arrival{raw: []byte(header + "\r\n" + plain)}, nil); !f.Automatic {
			t.Errorf("%s is answered", header)
		}
	}
	for _, subject := range []string{"Automatic reply: Payment", "Out of Office: Payment", "Automatische Antwort: Zahlung", "Abwesenheitsnotiz: Zahlung", "Réponse automatique : Paiement", "Absence du bureau",
		"Respuesta automática: Pago", "Fuera de la oficina", "=?utf-8?q?R=C3=A9ponse_automatique?="} {
		if f := taken(t, arrival{raw: []byte(edit("Re: Payment", subject))}, nil); !f.Automatic {
			t.Errorf("%s is answered", subject)
		}
	}
	for _, from := range []string{"MAILER-DAEMON@umza.example", "postmaster@umza.example", "no-reply@umza.example"} {
		if f := taken(t, arrival{raw: []byte(edit("Ada@Umza.example", from))}, nil); !f.Automatic {
			t.Errorf("%s is answered", from)
		}
	}
	if f := taken(t, arrival{raw: []byte(plain), null: true}, nil); !f.Automatic {
		t.Error("a bounce is answered")
	}
	if f := taken(t, arrival{raw: []byte(edit("text/plain", "multipart/report; boundary=x"))}, nil); !f.Automatic {
		t.Error("a report is answered")
	}
	for _, header := range []string{"Auto-Submitted: No", "Precedence: normal", "X-Auto-Response-Suppress: none", "X-Any: y"} {
		if f := taken(t, arrival{raw: []byte(header + "\r\n" + plain)}, nil); f.Automatic {
			t.Errorf("%s is not answered", header)
		}
	}
}

// report is how a server says that it could not deliver.
func report(action, status, id string) string {
	return "From: MAILER-DAEMON@umza.example\r\nTo: bot@ours.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx\r\n\r\nFinal-Recipient: rfc822; ada@umza.example\r\nAction: " + action +
		"\r\nStatus: " + status + "\r\nDiagnostic-Code: smtp; what somebody wrote\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nX-Verbatim-Delivery: d1\r\nMessage-ID: " + id + "\r\nSubject: x\r\n\r\nMessage-ID: <evil@ours.example>\r\n--b--\r\n"
}

// A bounce of our mail is a status of it and no message; any other is a message of a machine.
func TestBouncesAreStatuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mail      string
		ours      string
		code      string
		permanent bool
	}{
		"refused":         {report("failed", "5.1.1", "<d1@ours.example>"), "d1", "5.1.1", true},
		"given up":        {report("Failed", "4.4.7", "<d1@ours.example>"), "d1", "4.4.7", false},
		"without a code":  {report("failed", "?", "<d1@ours.example>"), "d1", "5.0.0", true},
		"headers alone":   {strings.Replace(report("failed", "5.1.1", "\r\n <d1@ours.example>"), "message/rfc822", "text/rfc822-headers", 1), "d1", "5.1.1", true},
		"delayed":         {report("delayed", "4.4.1", "<d1@ours.example>"), "", "", false},
		"somebody else's": {report("failed", "5.1.1", "<d1@evil.example>"), "", "", false},
		"an odd ID":       {report("failed", "5.1.1", "<d!1@ours.example>"), "", "", false},
		"another report":  {strings.Replace(report("failed", "5.1.1", "<d1@ours.example>"), "delivery-status; b", "disposition-notification; b", 1), "", "", false},
		"no original":     {strings.Replace(report("failed", "5.1.1", "<d1@ours.example>"), "message/rfc822", "text/plain", 1), "", "", false},
		"no report":       {strings.Replace(report("failed", "5.1.1", "<d1@ours.example>"), "multipart/report", "multipart/mixed", 1), "", "", false},
	} {
		d := &door{}
		if err := testAdapter(t, d, nil).take(t.Context(), arrival{raw: []byte(c.mail), null: true, inboxes: []string{"bot@ours.example"}}); err != nil {
			t.Fatal(name, err)
		}
		if c.ours == "" {
			if len(d.statuses) > 0 || len(d.messages) != 1 || !d.messages[0].Automatic {
				t.Errorf("%s: %+v", name, d)
			}
			continue
		}
		if len(d.messages) > 0 || len(d.statuses) != 1 {
			t.Fatalf("%s: %+v", name, d)
		}
		s := d.statuses[0]
		if s.Channel != "mail" || s.ID != "<d1@ours.example>" || s.Ours != c.ours || s.State != channel.Failed || !s.At.Equal(now) || s.Why.Code != c.code || s.Why.Permanent != c.permanent || s.Why.Text != "the mail was returned" {
			t.Errorf("%s: %+v, %+v", name, s, s.Why)
		}
	}
	d := &door{err: errors.New("full")}
	if testAdapter(t, d, nil).take(t.Context(), arrival{raw: []byte(report("failed", "5.1.1", "<d1@ours.example>"))}) == nil {
		t.Error("a bounce that was not kept is acknowledged")
	}
}

// Our own mail that comes back, and mail that goes round, is dropped.
func TestLoopsEnd(t *testing.T) {
	t.Parallel()
	a := testAdapter(t, nil, nil)
	for range 2 * cap(a.reading) { // one after another, however many
		if err := a.take(t.Context(), arrival{raw: []byte("X-Verbatim-Delivery: d1\r\n" + plain)}); err != nil {
			t.Fatal(err)
		}
	}
	for range cap(a.reading) {
		a.reading <- struct{}{}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.take(gone, arrival{}); !errors.Is(err, errLater) {
		t.Error(err)
	}
	for mail, kept := range map[string]bool{
		"X-Verbatim-Delivery: d1\r\n" + plain:         false,
		strings.Repeat("Received: x\r\n", 31) + plain: false,
		strings.Repeat("Received: x\r\n", 30) + plain: true,
	} {
		d := &door{}
		if err := testAdapter(t, d, nil).take(t.Context(), arrival{raw: []byte(mail), inboxes: []string{"bot@ours.example"}}); err != nil || (len(d.messages) == 1) != kept {
			t.Errorf("%.40q: %v, %d messages", mail, err, len(d.messages))
		}
	}
}

// An adapter that lacks something is not made.
func TestOptionsAreWhole(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"no domain":        func(o *Options) { o.Domain = "" },
		"no inboxes":       func(o *Options) { o.Inboxes = nil },
		"no door":          func(o *Options) { o.Door = nil },
		"no clock":         func(o *Options) { o.Clock = nil },
		"no host":          func(o *Options) { o.Submission = Submission{Address: ":25"} },
		"an empty port":    func(o *Options) { o.Submission = Submission{Address: "a:"} },
		"no port":          func(o *Options) { o.Submission = Submission{Address: "mail.ours.example"} },
		"unknown security": func(o *Options) { o.Submission = Submission{Address: "a:1", Security: "ssl"} },
		"a password in clear": func(o *Options) {
			o.Submission = Submission{Address: "a:1", Security: "none", User: "u", Password: "p"}
		},
		"a user, no password":  func(o *Options) { o.Submission = Submission{Address: "a:1", User: "u"} },
		"a domain of nonsense": func(o *Options) { o.Domain = "a..b" },
	} {
		o := Options{Domain: "ours.example", Inboxes: ours, Door: &door{}, Clock: time.Now}
		change(&o)
		if _, err := New(o); err == nil {
			t.Error(name)
		}
	}
	if a, err := New(Options{Domain: "OURS.example", Inboxes: ours, Door: &door{}, Clock: time.Now}); err != nil || a.o.DNS == nil || a.o.Domain != "ours.example" || a.Channel() != "mail" {
		t.Error(err)
	}
}

// BenchmarkTake reads and verifies a mail of ordinary size.
func BenchmarkTake(b *testing.B) {
	raw := []byte(signed(b, strings.Replace(plain, "Yes\r\n", "Yes\r\n\r\nOn Mon, Jan 5, 2026 at 10:12 AM Bot <bot@ours.example> wrote:\r\n"+strings.Repeat("> Some words that were said before, and again.\r\n", 200), 1), "umza.example", "s"))
	a := testAdapter(b, nil, nil)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if err := a.take(b.Context(), arrival{raw: raw, inboxes: []string{"bot@ours.example"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// Each field that is not read does what the list says. // G6
func TestFieldsThatAreNotReadDoWhatIsListed(t *testing.T) {
	t.Parallel()
	want, counted := taken(t, arrival{raw: []byte(plain)}, nil), map[string]int{}
	for name, does := range unread() {
		counted[does]++
		f := taken(t, arrival{raw: []byte(name + ": <x@umza.example>\r\n" + plain)}, nil)
		if f.Unsure != (does == "unsure") {
			t.Errorf("%s: unsure %v", name, f.Unsure)
		}
		if f.Unsure = want.Unsure; name != "mime-version" && fmt.Sprintf("%+v", f) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s is read:\n%+v", name, f)
		}
	}
	if counted["unsure"] < 3 || counted["ignore"] < 20 || len(counted) != 2 {
		t.Errorf("the list has %v", counted)
	}
	// A date that cannot be read makes a mail unsure. // G34
	for date, unsure := range map[string]bool{"Mon, 5 Jan 2026 10:20:00 +0100": false, "Mon, 5 Jan 2026 04:20:00 EST": false, "Mon, 5 Jan 2026 10:20:00 MESZ": true, "yesterday": true, "": true} {
		f := taken(t, arrival{raw: []byte(strings.Replace(plain, "Mon, 5 Jan 2026 10:20:00 +0100", date, 1))}, nil)
		if f.Unsure != unsure || !unsure && !f.At.Equal(time.Date(2026, 1, 5, 9, 20, 0, 0, time.UTC)) {
			t.Errorf("%q: unsure %v, %v", date, f.Unsure, f.At)
		}
	}
}
