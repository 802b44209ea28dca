package mail

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"regexp"
	"strings"
	"testing"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// resigned signs a mail for umza.example as an attacker with the key of its domain may: with
// tags that the library does not write.
func resigned(t testing.TB, mail, old, new string) string {
	t.Helper()
	head, body, _ := strings.Cut(mail, "\r\n\r\n")
	sum := sha256.Sum256([]byte(body))
	value := strings.Replace("v=1; a=ed25519-sha256; c=relaxed/relaxed; d=umza.example; s=s; h=From:Subject:Date:Message-ID:Content-Type; bh="+base64.StdEncoding.EncodeToString(sum[:])+"; b=", old, new, 1)
	var data string
	for name := range strings.SplitSeq(regexp.MustCompile(`h=([^;]*)`).FindStringSubmatch(value)[1], ":") {
		for line := range strings.SplitSeq(head, "\r\n") {
			if key, v, _ := strings.Cut(line, ":"); strings.EqualFold(key, name) {
				data += strings.ToLower(key) + ":" + strings.Join(strings.Fields(v), " ") + "\r\n"
			}
		}
	}
	hash := sha256.Sum256([]byte(data + "dkim-signature:" + value))
	return "DKIM-Signature: " + value + base64.StdEncoding.EncodeToString(ed25519.Sign(key, hash[:])) + "\r\n" + mail
}
