// Package seal seals texts for the owner of a key (HPKE, RFC 9180).
package seal

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/base64"

	"verbatim/runtime/internal/digest"
)

// Info returns the HPKE info under which a value is sealed. The parts are the verb, the name of
// the value, the caller, and the arguments that the palette binds the seal to, in its order.
func Info(parts ...string) string {
	return digest.Of(append([]string{"verbatim sealed 1"}, parts...)...)
}

// For seals a text for the owner of a public key, as Key reads it. Nobody else can read the text, and
// the owner can only with the same info (base mode, HKDF-SHA256, AES-256-GCM). The result is the
// encapsulated key and the ciphertext, in base64.
func For(key, info string, plain []byte) (string, error) {
	public, err := Key(key)
	if err != nil {
		return "", err
	}
	sealed, err := hpke.Seal(public, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(info), plain)
	return base64.StdEncoding.EncodeToString(sealed), err
}

// Key reads a public key, 32 bytes of X25519 in base64. It refuses keys of low order: anybody could
// read what is sealed for one.
func Key(text string) (hpke.PublicKey, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	point, err := ecdh.X25519().NewPublicKey(raw)
	if err != nil {
		return nil, err
	}
	probe, err := ecdh.X25519().NewPrivateKey(make([]byte, 32))
	if err != nil {
		return nil, err
	}
	if _, err := probe.ECDH(point); err != nil { // with a point of low order, the result is zero for every key
		return nil, err
	}
	return hpke.NewDHKEMPublicKey(point)
}
