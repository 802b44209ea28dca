package peers

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"verbatim/stores"
)

// A Key signs notifications. All processes of an installation sign with the same key.
type Key struct {
	ID      string // the thumbprint of its public half (RFC 7638)
	private ed25519.PrivateKey
	made    time.Time
}

const (
	keyID = iota
	keySeed
	keyTime
)

var keys = &stores.Entity{Name: "verbatim.peer-key", Table: "verbatim.peer_keys", Managed: true, Place: "the server's own", Fields: []stores.Field{
	keyID:   {Name: "id", Column: "id", Kind: stores.String, Required: true},
	keySeed: {Name: "seed", Column: "seed", Kind: stores.String, Required: true, Sensitive: true},
	keyTime: {Name: "time", Column: "made_at", Kind: stores.Time, Required: true},
}}

// signs is how long a key signs. It is published for twice that time, so that its last signatures
// can be verified.
const signs = 90 * 24 * time.Hour

// Keys returns the keys whose signatures peers may hold, the newest first: that one signs now. If
// none signs, it makes a new key.
func (b *Book) Keys(ctx context.Context) (all []Key, err error) {
	now := b.Clock()
	err = b.Store.View(ctx, scope, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: keys, Where: &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: keyTime}, Value: stores.NewTime(now.Add(-2 * signs))},
			Order: []stores.Order{{Path: stores.Path{Field: keyTime}, Desc: true}, {Path: stores.Path{Field: keyID}}}})
		for _, row := range rows {
			seed, bad := base64.RawURLEncoding.DecodeString(row[keySeed].Text())
			if bad != nil || len(seed) != ed25519.SeedSize {
				return errors.New("a key that signs notifications cannot be read")
			}
			k := keyFrom(seed)
			k.made = row[keyTime].Time()
			all = append(all, k)
		}
		return err
	})
	if err != nil || len(all) > 0 && now.Sub(all[0].made) < signs {
		return all, err
	}
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed) // never fails, by its documentation
	k := keyFrom(seed)
	k.made = now
	// Another process may make one at the same moment; then both are published.
	err = b.update(ctx, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{keys.Insert(stores.NewString(k.ID), stores.NewString(base64.RawURLEncoding.EncodeToString(seed)), stores.NewTime(now))}})
	})
	return append([]Key{k}, all...), err
}

func keyFrom(seed []byte) Key {
	k := Key{private: ed25519.NewKeyFromSeed(seed)}
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + k.public() + `"}`))
	k.ID = base64.RawURLEncoding.EncodeToString(sum[:])
	return k
}

func (k Key) public() string {
	return base64.RawURLEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// A JWK is the public half of a key, for those who verify its signatures (RFC 8037).
type JWK struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	X     string `json:"x"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
}

// JWK returns the public half of the key.
func (k Key) JWK() JWK {
	return JWK{Type: "OKP", Curve: "Ed25519", X: k.public(), ID: k.ID, Use: "sig", Alg: "EdDSA"}
}

// Sign makes a JWT with some claims (RFC 7519).
func (k Key) Sign(claims any) (string, error) {
	var parts [2]string
	for i, part := range []any{map[string]string{"alg": "EdDSA", "typ": "JWT", "kid": k.ID}, claims} {
		text, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		parts[i] = base64.RawURLEncoding.EncodeToString(text)
	}
	signed := strings.Join(parts[:], ".")
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(k.private, []byte(signed))), nil
}
