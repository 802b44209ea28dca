package channel

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/stores"
)

// A code proves that somebody reads messages to an address: the code is sent to the address and
// written back from it.

const (
	codeLasts = 15 * time.Minute
	codeTries = 5
)

// codeFrom makes an eight-digit code from a row's key. The key is random and secret.
func codeFrom(key stores.Value) string {
	sum := sha256.Sum256([]byte("verbatim channel code 1 " + key.Text()))
	return fmt.Sprintf("%08d", binary.BigEndian.Uint64(sum[:])%100_000_000)
}

// sendCode sends a code to the address that is to be verified.
func (s *Service) sendCode(ctx context.Context, m engine.Message) error {
	var body struct {
		With struct{ Identity string }
	}
	if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
		return err
	}
	key, ok := stores.Parse(stores.UUID, body.With.Identity)
	if !ok {
		return nil
	}
	id, err := s.clerk().Get(ctx, identities, key)
	if err != nil || id == nil {
		return err
	}
	sent, err := s.clerk().Find(ctx, codes, map[string]stores.Value{"identity": key})
	if err != nil || sent == nil {
		return err
	}
	p, err := s.clerk().Get(ctx, people, id.Value("principal"))
	if err != nil || p == nil {
		return err
	}
	channel := ""
	for name := range s.Adapters {
		if slices.Contains(Kinds(name), id.Text("issuer")) {
			channel = name
		}
	}
	in, err := s.clerk().Find(ctx, inboxes, map[string]stores.Value{"channel": stores.NewString(channel)})
	if err != nil {
		return err
	}
	if channel == "" || in == nil {
		return &notify.Error{Code: notify.CodeNoRoute, Text: "no channel leads to such an address"}
	}
	d, err := s.clerk().Session(ctx)
	if err != nil {
		return err
	}
	ref, err := s.clerk().Ref(ctx, d, "code-id", codes, sent.Key())
	if err != nil {
		return err
	}
	l := speaks(p)
	delivery := DeliveryID("code", sent.Key().Text())
	if before, err := s.clerk().Get(ctx, deliveries, stores.NewString(delivery)); err != nil || before != nil {
		return err
	}
	facts, _ := json.Marshal(outFacts{Subject: saySubject.In(l)}) // of texts and numbers: it cannot fail
	_, err = s.clerk().Do(ctx, d, "", serviceaccount.Call("channel.send", serviceaccount.Text("id", delivery), serviceaccount.Word("channel", channel), serviceaccount.Text("address", in.Text("address")), serviceaccount.Text("recipient", id.Text("subject")), ref,
		serviceaccount.Text("text", sayCode.In(l, codeFrom(sent.Key()))), serviceaccount.Text("facts", string(facts))))
	return err
}

// code verifies the identity that a message comes from, if the message is the code that was sent to
// it. A wrong code is counted, and answered like any message of an unknown sender.
func (h *handling) code(ctx context.Context) (proved bool, err error) {
	s, said := h.s, strings.TrimSpace(h.f.Text)
	if len(h.f.Known) == 0 || len(said) != 8 || strings.Trim(said, "0123456789") != "" || h.f.Automatic {
		return false, nil
	}
	for _, k := range h.f.Known {
		knownBy, err := rights.Normalised(k.Kind, k.Subject)
		if err != nil {
			continue
		}
		id, err := s.clerk().Find(ctx, identities, map[string]stores.Value{"issuer": stores.NewString(k.Kind), "known_by": stores.NewString(knownBy), "status": stores.NewString("PENDING")})
		if err != nil || id == nil {
			return false, err
		}
		sent, err := s.clerk().Find(ctx, codes, map[string]stores.Value{"identity": id.Key()})
		if err != nil || sent == nil {
			return false, err
		}
		ref, err := s.clerk().Ref(ctx, h.d, "code-id", codes, sent.Key())
		if err != nil {
			return false, err
		}
		late := s.Clock().Sub(sent.Value("sent_at").Time()) > codeLasts
		if late || sent.Value("tries").Int() >= codeTries {
			return false, nil
		}
		if subtle.ConstantTimeCompare([]byte(said), []byte(codeFrom(sent.Key()))) != 1 {
			_, err := s.clerk().Do(ctx, h.d, "", serviceaccount.Call("channel.try-code", ref))
			return false, err
		}
		identity, err := s.clerk().Ref(ctx, h.d, "identity-id", identities, id.Key())
		if err != nil {
			return false, err
		}
		return true, h.settle(ctx, handled, sender{key: id.Value("principal")}, "", "", serviceaccount.Call("channel.prove", ref, identity))
	}
	return false, nil
}
