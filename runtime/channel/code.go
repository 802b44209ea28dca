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

	"verbatim/runtime"
	"verbatim/runtime/notify"
	"verbatim/runtime/system"
	"verbatim/stores"
)

// A code proves that somebody reads what is sent to an address: it is sent there, and written
// back from there.

const (
	codeLasts = 15 * time.Minute
	codeTries = 5
)

// codeFrom is the code that is made of a row's key, eight digits. The key is random, and told
// to nobody.
func codeFrom(key stores.Value) string {
	sum := sha256.Sum256([]byte("verbatim channel code 1 " + key.Text()))
	return fmt.Sprintf("%08d", binary.BigEndian.Uint64(sum[:])%100_000_000)
}

// sendCode sends a code to the address that it is to verify.
func (s *Service) sendCode(ctx context.Context, m runtime.Message) error {
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
	id, err := s.get(ctx, identities, key)
	if err != nil || id == nil {
		return err
	}
	sent, err := s.find(ctx, codes, map[string]stores.Value{"identity": key})
	if err != nil || sent == nil {
		return err
	}
	p, err := s.get(ctx, people, id.value("principal"))
	if err != nil || p == nil {
		return err
	}
	channel := ""
	for name := range s.Adapters {
		if slices.Contains(Kinds(name), id.text("issuer")) {
			channel = name
		}
	}
	in, err := s.find(ctx, inboxes, map[string]stores.Value{"channel": stores.NewString(channel)})
	if err != nil {
		return err
	}
	if channel == "" || in == nil {
		return &notify.Error{Code: notify.CodeNoRoute, Text: "no channel leads to such an address"}
	}
	d, err := s.door(ctx)
	if err != nil {
		return err
	}
	ref, err := s.ref(ctx, d, "code-id", codes, sent.values[sent.e.Key])
	if err != nil {
		return err
	}
	l := speaks(p)
	delivery := DeliveryID("code", sent.values[sent.e.Key].Text())
	if before, err := s.get(ctx, deliveries, stores.NewString(delivery)); err != nil || before != nil {
		return err
	}
	facts, err := json.Marshal(outFacts{Subject: saySubject.In(l)})
	if err != nil {
		return err
	}
	_, err = s.do(ctx, d, "", call("channel.send", text("id", delivery), word("channel", channel), text("address", in.text("address")), text("recipient", id.text("subject")), ref,
		text("text", sayCode.In(l, codeFrom(sent.values[sent.e.Key]))), text("facts", string(facts))))
	return err
}

// code verifies the identity that a message comes from, where the message is the code that
// was sent to it. A wrong one is counted, and answered as any stranger's message is.
func (h *handling) code(ctx context.Context) (proved bool, err error) {
	s, said := h.s, strings.TrimSpace(h.f.Text)
	if len(h.f.Known) == 0 || len(said) != 8 || strings.Trim(said, "0123456789") != "" || h.f.Automatic {
		return false, nil
	}
	for _, k := range h.f.Known {
		knownBy, err := system.KnownBy(k.Kind, k.Subject)
		if err != nil {
			continue
		}
		id, err := s.find(ctx, identities, map[string]stores.Value{"issuer": stores.NewString(k.Kind), "known_by": stores.NewString(knownBy), "status": stores.NewString("PENDING")})
		if err != nil || id == nil {
			return false, err
		}
		sent, err := s.find(ctx, codes, map[string]stores.Value{"identity": id.values[id.e.Key]})
		if err != nil || sent == nil {
			return false, err
		}
		ref, err := s.ref(ctx, h.d, "code-id", codes, sent.values[sent.e.Key])
		if err != nil {
			return false, err
		}
		late := s.Clock().Sub(sent.value("sent_at").Time()) > codeLasts
		if late || sent.value("tries").Int() >= codeTries {
			return false, nil
		}
		if subtle.ConstantTimeCompare([]byte(said), []byte(codeFrom(sent.values[sent.e.Key]))) != 1 {
			_, err := s.do(ctx, h.d, "", call("channel.try-code", ref))
			return false, err
		}
		identity, err := s.ref(ctx, h.d, "identity-id", identities, id.values[id.e.Key])
		if err != nil {
			return false, err
		}
		return true, h.settle(ctx, handled, whose{key: id.value("principal")}, "", "", call("channel.prove", ref, identity))
	}
	return false, nil
}
