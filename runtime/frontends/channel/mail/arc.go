package mail

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-msgauth/authres"
	"github.com/emersion/go-msgauth/dmarc"

	"verbatim/runtime/state/contact"
)

// A sealing is the set of ARC header fields that one relaying server added to a mail (RFC 8617):
// its authentication results, a signature over the mail as it passed it on, and a seal over all
// sets so far.
type sealing struct{ results, message, seal *field }

// mostSealings is the greatest number of sets in a mail (RFC 8617, section 4.2.1).
const mostSealings = 50

// arc reports whether a server that the operator listed vouches for the domain of From. The results
// of a server count only if all later servers are listed too: each of them could have changed the
// mail. Nothing counts in a chain that is broken anywhere.
func (c *check) arc(ctx context.Context, h *head, in arrival, body []byte, now time.Time, sealers []string, p *proof) bool {
	chain := sealings(h)
	listed := func(s sealing) bool {
		domain, err := contact.Domain(tagsOf(s.seal.value)["d"])
		return err == nil && slices.Contains(sealers, domain)
	}
	// The last one is checked first, so that a foreign chain causes no DNS queries.
	if len(chain) == 0 || !listed(chain[len(chain)-1]) {
		return false
	}
	signed, ok := c.handedOn(ctx, h, body, chain[len(chain)-1].message, now)
	if !ok {
		return false
	}
	for i := len(chain) - 1; i >= 0; i-- {
		if !c.sealed(ctx, chain[:i+1]) {
			return false
		}
	}
	for i := len(chain) - 1; i >= 0 && listed(chain[i]); i-- {
		if c.found(ctx, chain[i].results) {
			return covered(h, in, signed, p)
		}
	}
	return false
}

// sealings returns the sets of a mail, oldest first. It returns none unless there is exactly one of
// each number.
func sealings(h *head) []sealing {
	chain := make([]sealing, h.count["arc-seal"])
	if len(chain) > mostSealings || h.count["arc-message-signature"] != len(chain) || h.count["arc-authentication-results"] != len(chain) {
		return nil
	}
	for i := range h.fields {
		f := &h.fields[i]
		if !strings.HasPrefix(f.name, "arc-") {
			continue
		}
		value, _, _ := strings.Cut(f.value, ";")
		if f.name != "arc-authentication-results" {
			value = "i=" + tagsOf(f.value)["i"]
		}
		name, number, _ := strings.Cut(value, "=")
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || strings.TrimSpace(name) != "i" || n < 1 || n > len(chain) || len(f.value) > mostField {
			return nil
		}
		s := &chain[n-1]
		switch {
		case f.name == "arc-seal" && s.seal == nil:
			s.seal = f
		case f.name == "arc-message-signature" && s.message == nil:
			s.message = f
		case f.name == "arc-authentication-results" && s.results == nil:
			s.results = f
		default:
			return nil
		}
	}
	return chain
}

// sealed reports whether the last seal of a chain is valid for its domain and the whole chain, and
// states that the chain below it was valid.
func (c *check) sealed(ctx context.Context, chain []sealing) bool {
	last := chain[len(chain)-1]
	tags := tagsOf(last.seal.value)
	want := "pass"
	if len(chain) == 1 {
		want = "none"
	}
	if _, more := tags["h"]; more || tags["cv"] != want {
		return false
	}
	var data strings.Builder
	for _, s := range chain {
		data.WriteString(relaxed(s.results) + relaxed(s.message))
		if s != last {
			data.WriteString(relaxed(s.seal))
		}
	}
	data.WriteString(unsignedSelf(last.seal, true))
	return c.verified(ctx, tags, data.String())
}

// handedOn reports whether a mail is as the last server handed it on, and which fields that
// signed.
func (c *check) handedOn(ctx context.Context, h *head, body []byte, f *field, now time.Time) (signed []string, ok bool) {
	tags := tagsOf(f.value)
	canon, canonBody, _ := strings.Cut(tags["c"], "/")
	relax := canon == "relaxed"
	if known := []string{"", "simple", "relaxed"}; !slices.Contains(known, canon) || !slices.Contains(known, canonBody) {
		return nil, false
	}
	if _, part := tags["l"]; part {
		return nil, false // anybody may write on below it
	}
	if x, limited := tags["x"]; limited {
		if at, err := strconv.ParseInt(x, 10, 64); err != nil || now.After(time.Unix(at, 0)) {
			return nil, false
		}
	}
	sum := sha256.Sum256(canonical(body, canonBody == "relaxed"))
	if said, err := base64.StdEncoding.DecodeString(tags["bh"]); err != nil || subtle.ConstantTimeCompare(said, sum[:]) != 1 {
		return nil, false
	}
	picked := map[string]int{}
	var data strings.Builder
	for name := range strings.SplitSeq(strings.ToLower(tags["h"]), ":") {
		if strings.HasPrefix(name, "arc-seal") || len(signed) > mostFields {
			return nil, false
		}
		signed = append(signed, name)
		if f := h.last(name, picked[name]); f != nil {
			picked[name]++
			if relax {
				data.WriteString(relaxed(f))
			} else {
				data.Write(f.raw)
			}
		}
	}
	data.WriteString(unsignedSelf(f, relax))
	return signed, slices.Contains(signed, "from") && c.verified(ctx, tags, data.String())
}

// found reports whether a server found out that the domain of From vouches for the mail, as
// DMARC has it.
func (c *check) found(ctx context.Context, f *field) bool {
	_, said, _ := strings.Cut(f.value, ";") // behind its number
	bare, ok := contact.Uncommented(said, true)
	if !ok {
		return false
	}
	_, all, err := authres.Parse(bare)
	if err != nil {
		return false
	}
	vouched := false
	for _, r := range all {
		switch r := r.(type) {
		case *authres.DMARCResult:
			from, err := contact.Domain(r.From)
			if r.Value == authres.ResultNone {
				continue // the domain has no policy
			}
			if r.Value != authres.ResultPass || err != nil || from != c.domain {
				return false
			}
			vouched = true
		case *authres.DKIMResult:
			vouched = vouched || r.Value == authres.ResultPass && c.aligned(ctx, r.Domain, func(r *dmarc.Record) dmarc.AlignmentMode { return r.DKIMAlignment })
		case *authres.SPFResult:
			vouched = vouched || r.Value == authres.ResultPass && c.aligned(ctx, r.From[strings.LastIndexByte(r.From, '@')+1:], spfMode)
		}
	}
	return vouched
}

// verified reports whether the key that a signature names made it.
func (c *check) verified(ctx context.Context, tags map[string]string, data string) bool {
	signature, err := base64.StdEncoding.DecodeString(tags["b"])
	domain, bad := contact.Domain(tags["d"])
	if err != nil || bad != nil || tags["s"] == "" {
		return false
	}
	key, err := c.keyOf(ctx, tags["s"]+between+domain)
	sum := sha256.Sum256([]byte(data))
	switch key := key.(type) {
	case *rsa.PublicKey:
		return err == nil && tags["a"] == "rsa-sha256" && key.Size() >= 1024/8 && rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	case ed25519.PublicKey:
		return err == nil && tags["a"] == "ed25519-sha256" && ed25519.Verify(key, sum[:], signature)
	}
	return false
}

// keyOf looks up a key. One that may not be used for this is none.
func (c *check) keyOf(ctx context.Context, name string) (crypto.PublicKey, error) {
	all, err := c.record(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, errors.New("not one key")
	}
	tags := tagsOf(all[0])
	allows := func(tag, use string) bool {
		list, some := tags[tag]
		uses := strings.Split(list, ":")
		return !some || slices.Contains(uses, use) || tag == "s" && slices.Contains(uses, "*")
	}
	if v, some := tags["v"]; some && v != "DKIM1" || !allows("h", "sha256") || !allows("s", "email") {
		return nil, errors.New("a key for something else")
	}
	der, err := base64.StdEncoding.DecodeString(tags["p"])
	switch {
	case err != nil:
		return nil, err
	case tags["k"] == "ed25519" && len(der) == ed25519.PublicKeySize:
		return ed25519.PublicKey(der), nil
	case tags["k"] != "" && tags["k"] != "rsa":
		return nil, errors.New("a key of another kind")
	}
	if key, err := x509.ParsePKIXPublicKey(der); err == nil {
		return key, nil
	}
	return x509.ParsePKCS1PublicKey(der)
}

// tagsOf reads a list of tags, without white space. A list with a tag twice is empty.
func tagsOf(value string) map[string]string {
	tags := map[string]string{}
	for tag := range strings.SplitSeq(value, ";") {
		name, value, ok := strings.Cut(tag, "=")
		if name = strings.TrimSpace(name); !ok {
			continue
		}
		if _, twice := tags[name]; twice {
			return nil
		}
		tags[name] = strings.Join(strings.Fields(value), "")
	}
	return tags
}

// relaxed returns a field in relaxed canonical form (RFC 6376, 3.4.2).
func relaxed(f *field) string {
	return f.name + ":" + strings.Join(strings.FieldsFunc(f.value, blank), " ") + "\r\n"
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

// unsignedSelf returns a signature's own field in the form that it signs: without the signature.
func unsignedSelf(f *field, relax bool) string {
	raw := string(f.raw)
	if relax {
		raw = relaxed(f)
	}
	name, value, _ := strings.Cut(raw, ":")
	tags := strings.Split(value, ";")
	for i, tag := range tags {
		if key, _, ok := strings.Cut(tag, "="); ok && strings.TrimSpace(key) == "b" {
			tags[i] = key + "="
		}
	}
	return strings.TrimRight(name+":"+strings.Join(tags, ";"), "\r\n")
}

// canonical returns a body in canonical form (RFC 6376, 3.4.3 and 3.4.4).
func canonical(body []byte, relax bool) []byte {
	var b bytes.Buffer
	empty := 0
	for len(body) > 0 {
		line, after, _ := bytes.Cut(body, []byte("\n"))
		body, line = after, bytes.TrimSuffix(line, []byte("\r"))
		if relax {
			line = spaced(line)
		}
		if len(line) == 0 {
			empty++
			continue
		}
		for ; empty > 0; empty-- {
			b.WriteString("\r\n")
		}
		b.Write(line)
		b.WriteString("\r\n")
	}
	if b.Len() == 0 && !relax {
		return []byte("\r\n")
	}
	return b.Bytes()
}

// spaced returns a line with one space for each run of white space, and none at its end.
func spaced(line []byte) []byte {
	var out []byte
	gap := false
	for _, c := range line {
		if c == ' ' || c == '\t' {
			gap = true
			continue
		}
		if gap {
			out = append(out, ' ')
		}
		out, gap = append(out, c), false
	}
	return out
}
