package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/frontends/http/server/logins"
)

// tokenCommand makes tokens for programs.
func tokenCommand(a *app) *cobra.Command {
	var f runFlags
	var principal, name, audience, only, origin, certificate string
	var length string
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Let a program speak as somebody, for a while",
		Example: `verbatim migrate --administrator ada
verbatim serve token nightly --as ada --for ada --url http://localhost:8080`,
		Long: `Makes a token for somebody whom system.add-principal added; who came by SQL has none. It has
system.add-token keep the SHA-256: what that asks, this asks. The token is printed here alone.
One for somebody else counts once another administrator has agreed to it. With --certificate it
is a certificate of the program's that counts, until it expires, and nothing is secret. What the
program sends counts as a model's, and asks, unless --origin script says that no model writes it.`,
		Args: exactly(1, "what the token is for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name = args[0]
			if u, err := url.Parse(audience); err != nil || u.Host == "" {
				return usage("a token is for one server", "give its --url, as verbatim serve has it")
			}
			lasts, err := lengthOf(length)
			if err != nil || lasts < time.Minute || lasts > 366*24*time.Hour {
				return usage(fmt.Sprintf("a token lasts a minute to a year, not %q", length), "verbatim serve token --lasts 30d")
			}
			if origin != "model" && origin != "script" {
				return usage(fmt.Sprintf("a token is for a model or a script, not %q", origin), "verbatim serve token --origin script, for a program without a model")
			}
			expires := a.now().Add(lasts)
			var secret, digest string
			if certificate != "" {
				shown, err := readCertificate(certificate, a.now())
				if err != nil {
					return err
				}
				if digest = logins.CertificateDigest(shown.Raw); shown.NotAfter.Before(expires) {
					expires = shown.NotAfter
				}
			} else {
				secret = logins.Secret()
				digest = logins.Digest(secret)
			}
			script := tokenScript(principal, name, digest, strings.TrimRight(audience, "/"), only, origin, expires)
			err = a.runSource(cmd.Context(), "", func() (*dsl.Source, error) { return dsl.NewSource("token", script), nil }, f)
			if secret != "" && (err == nil || a.waits) {
				if a.waits {
					fmt.Fprintln(a.err, "the token is printed now and never again; it counts once another administrator has agreed")
				}
				fmt.Fprintln(a.out, secret)
			}
			return err
		},
	}
	a.setupFlags(cmd, &f.setup, "your `name`, which is believed")
	cmd.Flags().StringVar(&principal, "for", "", "the `name` that the program speaks as")
	cmd.Flags().StringVar(&audience, "url", "", "the `URL` of the server that takes it")
	cmd.Flags().StringVar(&only, "only", "", "the `verbs` that it is good for, with blanks between (default all)")
	cmd.Flags().StringVar(&origin, "origin", "model", "`who` writes what the program sends: model, or script where no model does")
	cmd.Flags().StringVar(&certificate, "certificate", "", "the `file` of a certificate that the program shows, and no token")
	cmd.Flags().StringVar(&length, "lasts", "30d", "for how `long` it is good, in days or as 12h30m")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "agree to what is asked, without looking")
	return cmd
}

// lengthOf reads a length of time, which may be in days.
func lengthOf(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		return time.Duration(min(n, 10_000)) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}

// certified reads VERBATIM_CLIENT_CERTIFICATES, on or unset, which needs TLS. If it is on, browsers
// with a certificate ask about it at every page.
func (a *app) certified(secure bool) (bool, error) {
	switch how := a.env("VERBATIM_CLIENT_CERTIFICATES"); {
	case how == "":
		return false, nil
	case how != "on":
		return false, usage(fmt.Sprintf("VERBATIM_CLIENT_CERTIFICATES is on, not %q", how), "leave it out, and programs show tokens")
	case !secure:
		return false, usage("certificates of programs are shown to a server that has TLS itself", "give --tls-cert and --tls-key, or unset VERBATIM_CLIENT_CERTIFICATES")
	}
	return true, nil
}

// readCertificate reads a program's certificate from a PEM file.
func readCertificate(file string, now time.Time) (*x509.Certificate, error) {
	unfit := func(why string) error {
		return usage(fmt.Sprintf("the certificate %q cannot be used: %s", file, why), "give the one that the program shows, as PEM, without its key")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, unfit(reason(err))
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, unfit("it is not one certificate alone")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, unfit("it is malformed")
	}
	if now.After(c.NotAfter) || now.Before(c.NotBefore) {
		return nil, unfit("it is good from " + stamp(c.NotBefore) + " to " + stamp(c.NotAfter))
	}
	return c, nil
}

// tokenScript returns the call that stores a token.
func tokenScript(principal, name, digest, audience, only, origin string, expires time.Time) string {
	args := []dsl.Arg{dsl.NewArg("principal-id", dsl.NewString(principal)), dsl.NewArg("name", dsl.NewString(name)), dsl.NewArg("digest", dsl.NewString(digest)),
		dsl.NewArg("audience", dsl.NewString(audience)), dsl.NewArg("expires-at", dsl.NewString(stamp(expires)))}
	if only != "" {
		args = append(args, dsl.NewArg("only", dsl.NewString(only)))
	}
	if origin == "script" {
		args = append(args, dsl.NewArg("origin", dsl.NewCode("SCRIPT")))
	}
	call := dsl.NewCall("system.add-token", args...)
	return dsl.FormatCall(&call) + "\n"
}
