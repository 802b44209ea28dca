package mail

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"regexp"
	"strconv"
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

// A seal is what a server puts on top of a mail that it hands on. What is empty is as it
// should be.
type seal struct {
	domain, results string
	number          int
	cv, seal, sign  string // of the seal; more tags of the seal and of the signature
	names           string // of the fields that it signs
	body            string // that it claims to have signed
	canon           string // how
}

// forwarded is a mail as servers handed it on, one after the other.
func forwarded(t testing.TB, mail string, seals ...seal) string {
	t.Helper()
	var before []string // the fields of seals so far, as they are signed
	for i, s := range seals {
		if s.number == 0 {
			s.number = i + 1
		}
		if s.cv == "" {
			s.cv = map[bool]string{true: "none", false: "pass"}[i == 0]
		}
		if s.names == "" {
			s.names = "From:To:Subject:Date:Message-ID:Content-Type"
		}
		head, body, _ := strings.Cut(mail, "\r\n\r\n")
		if s.body != "" {
			body = s.body
		}
		if s.canon == "" {
			s.canon = "relaxed/relaxed"
		}
		n, sum := strconv.Itoa(s.number), sha256.Sum256([]byte(body))
		made := func(data, own string) string {
			hash := sha256.Sum256([]byte(data + own))
			return own + base64.StdEncoding.EncodeToString(ed25519.Sign(key, hash[:]))
		}
		var data string
		for name := range strings.SplitSeq(s.names, ":") {
			for line := range strings.SplitSeq(strings.ReplaceAll(head, "\r\n ", " "), "\r\n") {
				if key, v, _ := strings.Cut(line, ":"); strings.EqualFold(key, name) && s.canon != "relaxed/relaxed" {
					data += line + "\r\n"
				} else if strings.EqualFold(key, name) {
					data += strings.ToLower(key) + ":" + strings.Join(strings.Fields(v), " ") + "\r\n"
				}
			}
		}
		results := "arc-authentication-results:i=" + n + "; " + s.results
		message := made(data, "arc-message-signature:i="+n+"; a=ed25519-sha256; c="+s.canon+"; d="+s.domain+"; s=s; "+s.sign+"h="+s.names+"; bh="+base64.StdEncoding.EncodeToString(sum[:])+"; b=")
		before = append(before, results, message)
		sealed := made(strings.Join(before, "\r\n")+"\r\n", "arc-seal:i="+n+"; a=ed25519-sha256; cv="+s.cv+"; d="+s.domain+"; s=s; "+s.seal+"b=")
		before = append(before, sealed)
		mail = strings.Join([]string{sealed, message, results, mail}, "\r\n")
	}
	return mail
}
