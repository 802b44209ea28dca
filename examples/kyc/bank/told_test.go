package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Only what our agent signed for us, lately and over these bytes, is taken.
func TestOnlyWhatOurAgentSignedIsTaken(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	other := ed25519.NewKeyFromSeed([]byte("01234567890123456789012345678901"))
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]string{{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey))}}})
	}))
	defer agent.Close()
	e := &ear{agent: agent.URL, url: "http://bank.example/told"}
	now := time.Unix(1_800_000_000, 0)
	body := []byte(`{"task":{}}`)
	signed := func(by ed25519.PrivateKey, head, claims map[string]any) string {
		var parts string
		for i, part := range []map[string]any{head, claims} {
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				parts += "."
			}
			parts += base64.RawURLEncoding.EncodeToString(text)
		}
		return parts + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(by, []byte(parts)))
	}
	sum := sha256.Sum256(body)
	claims := func(change ...any) map[string]any {
		c := map[string]any{"iss": agent.URL, "aud": e.url, "jti": "n", "iat": now.Unix(), "exp": now.Unix() + 300, "request_body_sha256": hex.EncodeToString(sum[:])}
		for i := 0; i < len(change); i += 2 {
			c[change[i].(string)] = change[i+1]
		}
		return c
	}
	head := map[string]any{"alg": "EdDSA", "kid": "k"}
	good := signed(key, head, claims())
	for name, c := range map[string]struct {
		header, id string
		body       string
		good       bool
	}{
		"signed":               {"Bearer " + good, "n", string(body), true},
		"nothing":              {"", "n", string(body), false},
		"no token":             {"Bearer x", "n", string(body), false},
		"no JSON":              {"Bearer a.b.c", "n", string(body), false},
		"another scheme":       {"Basic " + good, "n", string(body), false},
		"another body":         {"Bearer " + good, "n", `{"task":{"id":"x"}}`, false},
		"another notification": {"Bearer " + good, "m", string(body), false},
		"another key":          {"Bearer " + signed(other, head, claims()), "n", string(body), false},
		"an unknown key":       {"Bearer " + signed(key, map[string]any{"alg": "EdDSA", "kid": "j"}, claims()), "n", string(body), false},
		"no algorithm":         {"Bearer " + signed(key, map[string]any{"alg": "none", "kid": "k"}, claims()), "n", string(body), false},
		"for somebody else":    {"Bearer " + signed(key, head, claims("aud", "http://other.example")), "n", string(body), false},
		"of somebody else":     {"Bearer " + signed(key, head, claims("iss", "http://other.example")), "n", string(body), false},
		"too late":             {"Bearer " + signed(key, head, claims("exp", now.Unix())), "n", string(body), false},
		"too early":            {"Bearer " + signed(key, head, claims("iat", now.Unix()+61)), "n", string(body), false},
		"without an id":        {"Bearer " + signed(key, head, claims("jti", "")), "", string(body), false},
	} {
		h := http.Header{}
		h.Set("Authorization", c.header)
		h.Set("Webhook-Id", c.id)
		if err := e.verify(h, []byte(c.body), now); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
