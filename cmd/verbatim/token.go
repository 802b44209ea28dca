package main

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/serve/logins"
)

// tokenCommand makes tokens for programs.
func tokenCommand(a *app) *cobra.Command {
	var f runFlags
	var principal, name, audience, only string
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Let a program speak as somebody, for a while",
		Example: `verbatim migrate --administrator ada
verbatim serve token nightly --as ada --for ada --url http://localhost:8080`,
		Long: `Makes a token, and has system.add-token keep its SHA-256: what that asks, this asks. The
token is printed here and can be read nowhere else. One for somebody else counts once
another administrator has agreed to it.`,
		Args: exactly(1, "what the token is for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name = args[0]
			if u, err := url.Parse(audience); err != nil || u.Host == "" {
				return usage("a token is for one server", "give its --url, as verbatim serve has it")
			}
			if lasts < time.Minute || lasts > 366*24*time.Hour {
				return usage("a token lasts a minute to a year", "verbatim serve token --lasts 720h")
			}
			secret, err := (&logins.Book{Random: a.random}).Secret()
			if err != nil {
				return broken("no token can be made", err, "")
			}
			script := tokenScript(principal, name, logins.Digest(secret), strings.TrimRight(audience, "/"), only, a.now().Add(lasts))
			err = a.runSource(cmd.Context(), "", func() (*dsl.Source, error) { return dsl.NewSource("token", script), nil }, f)
			if err == nil || a.waits {
				fmt.Fprintln(a.out, secret)
			}
			return err
		},
	}
	a.setupFlags(cmd, &f.setup, "your `name`, which is believed")
	cmd.Flags().StringVar(&principal, "for", "", "the `name` that the program speaks as")
	cmd.Flags().StringVar(&audience, "url", "", "the `URL` of the server that takes it")
	cmd.Flags().StringVar(&only, "only", "", "the `verbs` that it is good for, with blanks between (default all)")
	cmd.Flags().DurationVar(&lasts, "lasts", 30*24*time.Hour, "for how `long` it is good")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "agree to what is asked, without looking")
	return cmd
}

// tokenScript is the call that has a token kept.
func tokenScript(principal, name, digest, audience, only string, expires time.Time) string {
	args := []dsl.Arg{dsl.NewArg("principal-id", dsl.NewString(principal)), dsl.NewArg("name", dsl.NewString(name)), dsl.NewArg("digest", dsl.NewString(digest)),
		dsl.NewArg("audience", dsl.NewString(audience)), dsl.NewArg("expires-at", dsl.NewString(stamp(expires)))}
	if only != "" {
		args = append(args, dsl.NewArg("only", dsl.NewString(only)))
	}
	call := dsl.NewCall("system.add-token", args...)
	return dsl.FormatCall(&call) + "\n"
}
