package mail

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"verbatim/runtime/state/contact"

	"blitiri.com.ar/go/spf"
	"github.com/emersion/go-msgauth/authres"
	"github.com/emersion/go-msgauth/dkim"
	"github.com/emersion/go-msgauth/dmarc"
	"golang.org/x/net/publicsuffix"

	"verbatim/runtime/frontends/channel/internal/proven"
)

// A proof holds the facts about a mail that are proved.
type proof struct {
	known   []proven.Identity // empty for an unknown sender
	loose   bool              // the fields that say how to read the text are not signed
	unnamed bool              // its Message-ID is not signed
}

// single are the fields that a mail has at most once. If there are two, one was added.
var single = []string{"from", "sender", "reply-to", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references", "mime-version", "content-type",
	"content-transfer-encoding", "content-disposition"}

// prove finds out who sent a mail. errLater says that the DNS gave no answer.
func (a *Adapter) prove(ctx context.Context, h *head, body []byte, in arrival) (proof, error) {
	subject, err := h.author()
	if err != nil || h.odd || slices.ContainsFunc(single, func(name string) bool { return h.count[name] > 1 }) {
		return proof{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	domain, _ := contact.DomainOf(subject)
	now := a.o.Clock()
	c := &check{dns: &patient{Resolver: a.o.DNS}, domain: domain}
	p := proof{known: []proven.Identity{{Kind: "email", Subject: subject}}}
	if a.results(ctx, c, h, in) || c.spf(ctx, in) || c.dkim(ctx, h, in, now, &p) || c.arc(ctx, h, in, body, now, a.o.Sealers, &p) {
		return p, nil
	}
	if c.dns.failed.Load() {
		return proof{}, errLater
	}
	return proof{}, nil
}

// A check verifies one mail.
type check struct {
	dns    *patient
	domain string // of From
}

// dkim reports whether a signature of the domain covers the parts of a mail that are read.
func (c *check) dkim(ctx context.Context, h *head, in arrival, now time.Time, p *proof) bool {
	for _, f := range h.fields {
		if f.name == "dkim-signature" && len(f.value) > mostField {
			return false
		}
	}
	// Too many signatures are an error, but the first of them are verified.
	all, _ := dkim.VerifyWithOptions(bytes.NewReader(in.raw), &dkim.VerifyOptions{MaxVerifications: 10, LookupTXT: func(name string) ([]string, error) { return c.key(ctx, name) }})
	for _, v := range all {
		if v.Err != nil || !v.Expiration.IsZero() && now.After(v.Expiration) {
			continue
		}
		if c.aligned(ctx, v.Domain, func(r *dmarc.Record) dmarc.AlignmentMode { return r.DKIMAlignment }) && covered(h, in, v.HeaderKeys, p) {
			return true
		}
	}
	return false
}

// covered reports whether a signature over some fields covers the parts of a mail that are read, and
// notes in p which of them it omits.
func covered(h *head, in arrival, signed []string, p *proof) bool {
	unsigned := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return h.count[name] > 0 && !slices.ContainsFunc(signed, func(key string) bool { return strings.EqualFold(key, name) })
		})
	}
	if unsigned("subject", "date", "reply-to") {
		return false
	}
	p.unnamed = unsigned("message-id")
	// Mail that was sent to us arrived here before anybody could send it again with another
	// Content-Type, and a second mail with its Message-ID is not read.
	toUs := !unsigned("to", "cc", "message-id") && h.count["message-id"] > 0 && slices.ContainsFunc(in.inboxes, h.addressed)
	p.loose = unsigned("content-type", "content-transfer-encoding") && !toUs
	return true
}

// between stands between a selector and a domain in the DNS name of a key.
const between = "._domainkey."

// key looks up the key of a signature, if its domain may matter.
func (c *check) key(ctx context.Context, name string) ([]string, error) {
	if at := strings.LastIndex(name, between); !c.related(name[at+len(between):]) {
		return nil, errors.New("not a key of the domain")
	}
	return c.record(ctx, name)
}

// record looks up the record of a key. A key in test mode (t=y) counts as none.
func (c *check) record(ctx context.Context, name string) ([]string, error) {
	all, err := c.dns.LookupTXT(ctx, name)
	for _, record := range all {
		for tag := range strings.SplitSeq(record, ";") {
			name, flags, _ := strings.Cut(tag, "=")
			if strings.TrimSpace(name) == "t" && slices.Contains(strings.Split(strings.ReplaceAll(flags, " ", ""), ":"), "y") {
				return nil, errors.New("a key that is tried out")
			}
		}
	}
	return all, err
}

// spf reports whether the server that sent the mail may, for an envelope of the domain.
func (c *check) spf(ctx context.Context, in arrival) bool {
	domain, _ := contact.DomainOf(in.envelope)
	if in.relayed || !c.related(domain) {
		return false
	}
	local, _, _ := strings.Cut(in.envelope, "@")
	result, _ := spf.CheckHostWithSender(net.IP(in.ip.AsSlice()), in.helo, local+"@"+domain, spf.WithContext(ctx), spf.WithResolver(c.dns))
	return result == spf.Pass && c.aligned(ctx, domain, spfMode)
}

func spfMode(r *dmarc.Record) dmarc.AlignmentMode { return r.SPFAlignment }

// results reports whether the operator's mail server found that SPF passes for the domain. It
// writes its results on top, so whatever stands below was there before.
func (a *Adapter) results(ctx context.Context, c *check, h *head, in arrival) bool {
	if a.o.AuthServID == "" || !in.relayed {
		return false
	}
	// The library knows neither comments nor quotes. What a sender made the server quote must
	// not be taken for a result.
	bare, ok := contact.Uncommented(h.value("authentication-results"), true)
	if !ok {
		return false
	}
	id, all, err := authres.Parse(bare)
	if err != nil || !strings.EqualFold(id, a.o.AuthServID) {
		return false
	}
	passed := ""
	for _, r := range all {
		if r, ok := r.(*authres.SPFResult); ok {
			if passed != "" || r.Value != authres.ResultPass {
				return false
			}
			passed = r.From
		}
	}
	return c.aligned(ctx, passed[strings.LastIndexByte(passed, '@')+1:], spfMode)
}

// related reports whether a domain is of the organization of From.
func (c *check) related(domain string) bool {
	domain, _ = contact.Domain(domain)
	return organization(domain) == organization(c.domain)
}

// aligned reports whether a domain may vouch for From: the same domain, or another one of the
// organization, if the policy of From allows that or does not mention it.
func (c *check) aligned(ctx context.Context, domain string, mode func(*dmarc.Record) dmarc.AlignmentMode) bool {
	domain, _ = contact.Domain(domain)
	if domain == c.domain || !c.related(domain) {
		return domain == c.domain
	}
	lookup := dmarc.LookupOptions{LookupTXT: func(name string) ([]string, error) {
		all, err := c.dns.LookupTXT(ctx, name)
		return policies(all), err
	}}
	policy, err := dmarc.LookupWithOptions(c.domain, &lookup)
	if err == dmarc.ErrNoPolicy {
		policy, err = dmarc.LookupWithOptions(organization(c.domain), &lookup)
	}
	return err == nil && mode(policy) == dmarc.AlignmentRelaxed
}

// policies rewrites DMARC records so that the library takes them: it refuses some that are valid. Only
// the version, the policy and the alignment are kept. An invalid alignment has its default. A record
// without a valid policy counts as p=none if it names an address for reports, and is ignored otherwise.
// Several records count as none (RFC 7489, 6.3 and 6.6.3).
func policies(all []string) (kept []string) {
	for _, txt := range all {
		tags := map[string]string{}
		for i, tag := range strings.Split(txt, ";") {
			name, value, _ := strings.Cut(tag, "=")
			name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
			if tags[name] == "" && (i == 0) == (name == "v") {
				tags[name] = value
			}
		}
		if tags["v"] != "DMARC1" {
			continue
		}
		policy := strings.ToLower(tags["p"])
		switch {
		case policy == "none" || policy == "quarantine" || policy == "reject":
		case strings.Contains(strings.ToLower(tags["rua"]), "mailto:"):
			policy = "none"
		default:
			continue
		}
		record := "v=DMARC1; p=" + policy
		for _, name := range [...]string{"adkim", "aspf"} {
			if mode := strings.ToLower(tags[name]); mode == "r" || mode == "s" {
				record += "; " + name + "=" + mode
			}
		}
		kept = append(kept, record)
	}
	if len(kept) > 1 {
		return nil
	}
	return kept
}

// organization returns the registered domain above a domain, or the domain itself if nobody can
// register one.
func organization(domain string) string {
	if o, err := publicsuffix.EffectiveTLDPlusOne(domain); err == nil {
		return o
	}
	return domain
}

// A patient resolver notes that a question got no answer. That does not mean that no such
// record exists.
type patient struct {
	Resolver
	failed atomic.Bool
}

func noted[T any](p *patient, all []T, err error) ([]T, error) {
	var none *net.DNSError
	if err != nil && !(errors.As(err, &none) && none.IsNotFound) {
		p.failed.Store(true)
	}
	return all, err
}

func (p *patient) LookupTXT(ctx context.Context, name string) ([]string, error) {
	all, err := p.Resolver.LookupTXT(ctx, name)
	return noted(p, all, err)
}

func (p *patient) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	all, err := p.Resolver.LookupMX(ctx, name)
	return noted(p, all, err)
}

func (p *patient) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	all, err := p.Resolver.LookupIPAddr(ctx, host)
	return noted(p, all, err)
}

func (p *patient) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	all, err := p.Resolver.LookupAddr(ctx, addr)
	return noted(p, all, err)
}
