package mail

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// rsaRecord is the key of the mails in testdata/arc, which dkimpy sealed.
const rsaRecord = "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDcJP1QmaZgEZfnMaXvVUzZpmTJvUcZ5abWjfVu3sTQYFWPyZ4IRtkErxJta2Wb/tQ/E6jKpl1n/U42sdec0N9wabf9t99fb3MEK8rJhUBvlu/rmHRcG8sq0YMp+Eh+wAQlbqTNNRvI+4A1baFvQdYAV8xrYg+/TCooxy1l4NVNjQIDAQAB"

// forwarders are the domains that an operator of the tests listed.
func forwarders(o *Options) {
	o.Sealers = []string{"Lists.example", "hosts.example"}
	z := world()
	for _, domain := range []string{"lists.example", "hosts.example", "www.lists.example"} {
		z["s._domainkey."+domain] = []string{keyRecord}
	}
	z["late._domainkey.lists.example"] = []string{"!"}
	o.DNS = z
}

const vouches = "lists.example; dmarc=pass (p=none) header.from=umza.example"

// A mail whose signature broke on its way is its sender's, where every server on top of the one
// that found it in order is listed.
func TestForwardedMailIsItsSenders(t *testing.T) {
	t.Parallel()
	list := seal{domain: "lists.example", results: vouches}
	host := seal{domain: "hosts.example", results: "hosts.example; dmarc=fail header.from=umza.example; arc=pass"}
	stranger := seal{domain: "evil.example", results: "evil.example; dmarc=pass header.from=umza.example"}
	said := func(results string) []seal { return []seal{{domain: "lists.example", results: results}} }
	many := func(n int) []seal { return append([]seal{list}, slices.Repeat([]seal{host}, n-1)...) }
	for name, c := range map[string]struct {
		seals []seal
		known bool
	}{
		"a listed one":                       {[]seal{list}, true},
		"a listed one, in capitals":          {[]seal{{domain: "LISTS.example", results: vouches}}, true},
		"two listed ones":                    {[]seal{list, host}, true},
		"of which the second found it":       {[]seal{host, list}, true},
		"a stranger before, who says so":     {[]seal{stranger, host}, false}, // SAFE-H3
		"a stranger before, whom it checked": {[]seal{stranger, list}, true},
		"a stranger after":                   {[]seal{list, stranger}, false}, // SAFE-H3
		"a stranger between":                 {[]seal{list, stranger, host}, false},
		"a stranger":                         {[]seal{stranger}, false},
		"a part of a listed domain":          {[]seal{{domain: "www.lists.example", results: vouches}}, false},
		"more tags":                          {[]seal{{domain: "lists.example", results: vouches, sign: "q=dns/txt; "}}, true},
		"white space as it is":               {[]seal{{domain: "lists.example", results: vouches, canon: "simple/simple"}}, true},
		"white space as it is, by default":   {[]seal{{domain: "lists.example", results: vouches, canon: "simple"}}, true},
		"50 seals":                           {many(50), true},
		"51 seals":                           {many(51), false}, // SAFE-H3
		"a chain that failed":                {[]seal{list, {domain: "hosts.example", results: host.results, cv: "fail"}}, false},
		"a chain that failed before":         {[]seal{list, {domain: "hosts.example", results: host.results, cv: "fail"}, host}, false},
		"a first that says it passed":        {[]seal{{domain: "lists.example", results: vouches, cv: "pass"}}, false},
		"a second that says it is the first": {[]seal{list, {domain: "hosts.example", results: host.results, cv: "none"}}, false},
		"a seal over fields":                 {[]seal{{domain: "lists.example", results: vouches, seal: "h=from; "}}, false},
		"a number twice":                     {[]seal{list, {domain: "hosts.example", results: host.results, number: 1}}, false},
		"a number left out":                  {[]seal{list, {domain: "hosts.example", results: host.results, number: 3}}, false},
		"a number that is none":              {[]seal{{domain: "lists.example", results: vouches, number: -1}}, false},
		"a part of the body":                 {[]seal{{domain: "lists.example", results: vouches, sign: "l=2; "}}, false},
		"a body that changed since":          {[]seal{{domain: "lists.example", results: vouches, body: "No\r\n"}}, false},
		"a signature that has expired":       {[]seal{{domain: "lists.example", results: vouches, sign: "x=1767604799; "}}, false},
		"one that has not":                   {[]seal{{domain: "lists.example", results: vouches, sign: "x=4102444800; "}}, true},
		"a tag twice":                        {[]seal{{domain: "lists.example", results: vouches, sign: "d=umza.example; "}}, false},
		"From is not signed":                 {[]seal{{domain: "lists.example", results: vouches, names: "To:Subject:Date:Message-ID:Content-Type"}}, false},
		"Subject is not signed":              {[]seal{{domain: "lists.example", results: vouches, names: "From:To:Date:Message-ID:Content-Type"}}, false},
		"a seal is signed":                   {[]seal{{domain: "lists.example", results: vouches, names: "From:Subject:Date:Message-ID:Content-Type:ARC-Seal"}}, false},
		"too much is signed":                 {[]seal{{domain: "lists.example", results: vouches, names: "From:Subject:Date:Message-ID:Content-Type" + strings.Repeat(":X", mostFields)}}, false},
		"as Google says it":                  {said("mx.google.com; dkim=pass header.i=@umza.example header.s=s header.b=aB12; spf=pass (google.com: domain of ada@umza.example designates 192.0.2.1 as permitted sender) smtp.mailfrom=ada@umza.example; dmarc=pass (p=NONE sp=NONE dis=NONE) header.from=umza.example"), true},
		"as Microsoft says it":               {said("mx.microsoft.com 1; spf=pass smtp.mailfrom=umza.example; dmarc=pass action=none header.from=umza.example; dkim=pass header.d=umza.example; arc=none"), true},
		"as Microsoft says it of another":    {said("mx.microsoft.com 1; spf=pass smtp.mailfrom=evil.example; dmarc=fail action=oreject header.from=umza.example; dkim=none (message not signed); arc=none"), false},
		"DKIM":                               {said("x; dkim=pass header.d=umza.example; spf=fail"), true},
		"DKIM of another":                    {said("x; dkim=pass header.d=evil.example"), false},
		"DKIM that failed":                   {said("x; dkim=fail header.d=umza.example"), false},
		"DKIM of a person":                   {said("x; dkim=pass header.i=ada@umza.example"), false},
		"SPF":                                {said("x; spf=pass smtp.mailfrom=bounces@umza.example"), true},
		"SPF of another":                     {said("x; spf=pass smtp.mailfrom=umza.example@evil.example"), false},
		"no policy, and DKIM":                {said("x; dmarc=none header.from=umza.example; dkim=pass header.d=umza.example"), true},
		"no policy, and nothing":             {said("x; dmarc=none header.from=umza.example"), false},
		"a policy that failed, and DKIM":     {said("x; dkim=pass header.d=umza.example; dmarc=fail header.from=umza.example"), false},
		"a policy of another":                {said("x; dmarc=pass header.from=evil.example"), false},
		"a policy of nobody":                 {said("x; dmarc=pass"), false},
		"two policies":                       {said("x; dmarc=pass header.from=umza.example; dmarc=pass header.from=evil.example"), false},
		"results in a comment":               {said("x; spf=fail (; dmarc=pass header.from=umza.example)"), false}, // SAFE-H3
		"results in quotes":                  {said(`x; spf=fail reason="; dmarc=pass header.from=umza.example ;"`), false},
		"results that do not end":            {said("x; dmarc=pass header.from=umza.example ("), false},
		"results that are none":              {said("x; none"), false},
		"results that cannot be read":        {said("x; ?; dmarc=pass header.from=umza.example"), false},
	} {
		f := taken(t, arrival{raw: []byte(forwarded(t, plain, c.seals...))}, forwarders)
		if (f.Known != nil) != c.known || f.Known != nil && f.Known[0].Subject != "ada@umza.example" {
			t.Errorf("%s: %+v", name, f.Known)
		}
		if f := taken(t, arrival{raw: []byte(forwarded(t, plain, c.seals...))}, func(o *Options) { forwarders(o); o.Sealers = nil }); f.Known != nil {
			t.Errorf("%s: %+v, and nobody is listed", name, f.Known)
		}
	}
	if f := taken(t, arrival{raw: []byte(forwarded(t, plain, seal{domain: "lists.example", results: vouches, names: "From:Subject:Date"}))}, forwarders); f.Known == nil || !f.Unsure || f.ID == "<m1@umza.example>" {
		t.Errorf("%+v", f)
	}
}

// Whoever changes a chain that servers made breaks it. SAFE-H3
func TestChangedSealsAreNone(t *testing.T) {
	t.Parallel()
	list, host := seal{domain: "lists.example", results: vouches}, seal{domain: "hosts.example", results: "x; dmarc=fail header.from=umza.example"}
	good := forwarded(t, plain, list, host)
	if f := taken(t, arrival{raw: []byte(good)}, forwarders); f.Known == nil {
		t.Fatal("nobody is known")
	}
	lines := strings.Split(good, "\r\n")
	swap := func(i, j int) string {
		all := slices.Clone(lines)
		all[i], all[j] = all[j], all[i]
		return strings.Join(all, "\r\n")
	}
	// The order of the fields says nothing: their numbers do.
	if f := taken(t, arrival{raw: []byte(swap(0, 5))}, forwarders); f.Known == nil {
		t.Error("fields in another order are another chain")
	}
	without := func(i int) string { return strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\r\n") }
	edit := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatal(old)
		}
		return strings.Replace(good, old, new, 1)
	}
	other := forwarded(t, strings.Replace(plain, "Yes", "No", 1), list, host)
	wrong := map[string]string{
		"the numbers are exchanged":      strings.NewReplacer("i=1;", "i=2;", "i=2;", "i=1;").Replace(good),
		"the results are exchanged":      strings.NewReplacer("results:i=1;", "results:i=2;", "results:i=2;", "results:i=1;").Replace(good),
		"the results are changed":        edit("dmarc=fail", "dmarc=pass"),
		"the first results are changed":  edit(vouches, vouches+"; spf=pass"),
		"a stranger's results on top":    "ARC-Authentication-Results: i=3; x; dmarc=pass header.from=umza.example\r\n" + good,
		"results twice":                  lines[2] + "\r\n" + good,
		"a number with more":             edit("arc-seal:i=2;", "arc-seal:i=2 x;"),
		"a number that is large":         edit("arc-seal:i=2;", "arc-seal:i=99999999999999999999;"),
		"no number":                      edit("results:i=1; ", "results:"),
		"a field that is not of a chain": "ARC-Seal-Too: i=1\r\n" + good,
		"the top is taken off":           strings.Join(lines[3:], "\r\n"),
		"the middle is taken off":        strings.Join(append(slices.Clone(lines[:3]), lines[6:]...), "\r\n"),
		"another mail's seals":           strings.Join(append(slices.Clone(strings.Split(other, "\r\n")[:6]), lines[6:]...), "\r\n"),
		"another From":                   edit("From: Ada Lovelace <Ada@", "From: Bob <bob@"),
		"another subject":                edit("Re: Payment", "Re: Payments"),
		"another body":                   edit("\r\n\r\nYes", "\r\n\r\nYes, pay Eve"),
		"a second From":                  "From: eve@evil.example\r\n" + good,
		"another hash":                   edit("a=ed25519-sha256; c=", "a=ed25519-sha1; c="),
		"another way to sign":            edit("c=relaxed/relaxed", "c=relaxed/none"),
		"a way to sign that it was not":  edit("c=relaxed/relaxed", "c=simple/relaxed"),
		"a long field":                   strings.Replace(good, "; cv=pass", "; z="+strings.Repeat("x", mostField)+"; cv=pass", 1),
		"no signature":                   edit(lines[0], lines[0][:strings.LastIndex(lines[0], "b=")]),
		"a signature that is no base64":  edit(lines[0], lines[0]+"!"),
		"no selector":                    edit("; s=s;", ";"),
		"a domain that is none":          edit("; d=lists.example", "; d=-"),
	}
	for i := range 6 {
		wrong["without line "+lines[i][:30]] = without(i)
		for _, at := range []int{len(lines[i]) - 10, len(lines[i]) / 2} { // a letter is another
			changed := slices.Clone(lines)
			changed[i] = lines[i][:at] + string(lines[i][at]^1) + lines[i][at+1:]
			wrong["a letter of "+changed[i]] = strings.Join(changed, "\r\n")
		}
	}
	delete(wrong, "the top is taken off") // what is left is whole
	for name, mail := range wrong {
		if f := taken(t, arrival{raw: []byte(mail)}, forwarders); f.Known != nil {
			t.Errorf("%s: %+v", name, f.Known)
		}
	}
	// Keys that may not be used prove nothing, and one that does not come has the mail sent again.
	once := forwarded(t, plain, list)
	for _, record := range []string{"", "v=DKIM2; k=ed25519; p=", "k=ed25519; p=!", strings.Replace(keyRecord, "k=ed25519", "k=rsa", 1), strings.Replace(keyRecord, "k=ed25519", "k=ecdsa", 1),
		strings.Replace(keyRecord, "; p=", "; h=sha1; p=", 1), strings.Replace(keyRecord, "; p=", "; s=web; p=", 1), strings.Replace(keyRecord, "; p=", "; t=y; p=", 1)} {
		f := taken(t, arrival{raw: []byte(once)}, func(o *Options) {
			forwarders(o)
			o.DNS.(zone)["s._domainkey.lists.example"] = []string{record}
		})
		if f.Known != nil {
			t.Errorf("%s is a key", record)
		}
	}
	if f := taken(t, arrival{raw: []byte(once)}, func(o *Options) {
		forwarders(o)
		o.DNS.(zone)["s._domainkey.lists.example"] = []string{keyRecord, keyRecord}
	}); f.Known != nil {
		t.Error("one of two keys is taken")
	}
	in := arrival{raw: []byte(once), inboxes: []string{"bot@ours.example"}}
	silent := func(o *Options) { forwarders(o); o.DNS.(zone)["s._domainkey.lists.example"] = []string{"!"} }
	if err := testAdapter(t, nil, silent).take(t.Context(), in); !errors.Is(err, errLater) {
		t.Error(err)
	}
	// Nothing of a stranger's chain is looked up.
	if f := taken(t, arrival{raw: []byte(forwarded(t, plain, seal{domain: "silent.example", results: vouches}))}, func(o *Options) {
		forwarders(o)
		o.DNS.(zone)["s._domainkey.silent.example"] = []string{"!"}
	}); f.Known != nil {
		t.Error(f.Known)
	}
	if _, err := New(Options{Domain: "ours.example", Sealers: []string{"lists.example/x"}}); err == nil {
		t.Error("a sealer that is no domain is taken")
	}
}

// What another program sealed is whole: dkimpy, with RSA and folded fields. It came by SMTP.
func TestMailThatDkimpySealedIsItsSenders(t *testing.T) {
	t.Parallel()
	d := &door{}
	at := serve(t, testAdapter(t, d, func(o *Options) {
		forwarders(o)
		for _, domain := range o.Sealers {
			o.DNS.(zone)["s._domainkey."+strings.ToLower(domain)] = []string{rsaRecord}
		}
	}))
	for _, name := range []string{"one", "two"} {
		raw, err := os.ReadFile("testdata/arc/" + name + ".eml")
		if err != nil {
			t.Fatal(err)
		}
		for mail, known := range map[string]bool{string(raw): true, strings.Replace(string(raw), "A footer", "No footer", 1): false, strings.Replace(string(raw), "dmarc=pass", "dmarc=fail", 1): false} {
			if err := dial(t, at).SendMail("list@lists.example", []string{"bot@ours.example"}, strings.NewReader(mail)); err != nil {
				t.Fatal(err)
			}
			if f := d.messages[len(d.messages)-1]; (f.Known != nil) != known {
				t.Errorf("%s: %+v", name, f.Known)
			}
		}
	}
}

// A signature may leave white space as it is. Both ways are those of RFC 6376, section 3.4.6.
func TestBodiesAreTakenAsTheyAreSigned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, simple, relaxed string }{
		{"", "\r\n", ""},
		{"\r\n\r\n", "\r\n", ""},
		{" C \r\nD \t E\r\n\r\n\r\n", " C \r\nD \t E\r\n", " C\r\nD E\r\n"},
		{"a\nb", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"a\r\n\r\n \r\nb\r\n \r\n", "a\r\n\r\n \r\nb\r\n \r\n", "a\r\n\r\n\r\nb\r\n"},
	} {
		if simple, relaxed := string(canonical([]byte(c.body), false)), string(canonical([]byte(c.body), true)); simple != c.simple || relaxed != c.relaxed {
			t.Errorf("%q: %q and %q", c.body, simple, relaxed)
		}
	}
	h, _ := readHead([]byte("A : X\r\nB : Y\t\r\n\tZ  \r\n\r\n"))
	if h, _ := readHead([]byte("a: X\r\nB: Y\t\r\n\tZ  \r\n\r\n")); relaxed(h.last("a", 0)) != "a:X\r\n" || relaxed(h.last("b", 0)) != "b:Y Z\r\n" || string(h.last("b", 0).raw) != "B: Y\t\r\n\tZ  \r\n" {
		t.Errorf("%+v", h.fields)
	}
	if !h.odd {
		t.Error("a name with a space is even")
	}
}
