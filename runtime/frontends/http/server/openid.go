package server

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"verbatim/runtime/frontends/http/server/logins"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// An OpenID is an identity provider: OpenID Connect Core 1.0 with the code flow and PKCE (RFC
// 7636). A person is known by issuer and subject; the provider's e-mail address is ignored.
type OpenID struct {
	Name     string // what people call it
	Issuer   string // "https://login.bank.example"
	ClientID string
	Secret   string // "" for a public client

	mu       sync.Mutex
	provider *oidc.Provider
}

// openIDTime is how long the provider may take.
const openIDTime = 10 * time.Second

// found discovers the provider when somebody first signs in, and again after a failure. While the
// provider is away, other ways to sign in still work.
func (o *OpenID) found(ctx context.Context) (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider != nil {
		return o.provider, nil
	}
	// The keys are fetched later, by a client that outlives this request.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), &http.Client{Timeout: openIDTime})
	p, err := oidc.NewProvider(ctx, o.Issuer)
	if err == nil {
		o.provider = p
	}
	return p, err
}

// Try finds out whether the provider answers as what it is called.
func (o *OpenID) Try(ctx context.Context) error {
	_, err := o.found(ctx)
	return err
}

func (s *Server) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: s.OpenID.ClientID, ClientSecret: s.OpenID.Secret, Endpoint: p.Endpoint(), RedirectURL: s.Origin() + "/sign-in/openid/back", Scopes: []string{oidc.ScopeOpenID}}
}

// A flow is the state of a sign-in, which the browser carries to the provider and back.
type flow struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	To       string `json:"to"`
}

const flowTime = 10 * time.Minute

func (v *Visit) toOpenID() error {
	if v.OpenID == nil {
		return Problem{Status: http.StatusNotFound, Code: "no-openid", Title: "nobody signs in with another system here"}
	}
	if err := v.Logins.Try(v.R.Context(), "openid from", v.address(v.R), 2*triesAddress, triesPeriod); err != nil {
		return err
	}
	provider, err := v.OpenID.found(v.R.Context())
	if err != nil {
		return v.openIDUnknown(err)
	}
	f := flow{Verifier: oauth2.GenerateVerifier(), State: logins.Secret(), Nonce: logins.Secret(), To: back(v.R.FormValue("to"))}
	text, _ := json.Marshal(f) // of texts and numbers: it cannot fail
	v.setCookie(cookieFlow, base64.RawURLEncoding.EncodeToString(text), flowTime)
	return v.See(v.oauth(provider).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)))
}

// openIDUnknown answers where the provider cannot be asked, or says what cannot be believed, as with a
// key or a clock that is not right yet.
func (v *Visit) openIDUnknown(err error) error {
	v.LogError("openid", err)
	p := v.signIn()
	p.Failed = true
	return v.signInPage(http.StatusServiceUnavailable, p)
}

// refused reports whether the provider said no to a code: it was used, or it is too old.
func refused(err error) bool {
	var no *oauth2.RetrieveError
	return errors.As(err, &no) && no.ErrorCode == "invalid_grant"
}

func (v *Visit) fromOpenID() error {
	if v.OpenID == nil || v.People == nil {
		return Problem{Status: http.StatusNotFound, Code: "no-openid", Title: "nobody signs in with another system here"}
	}
	var f flow
	text, err := base64.RawURLEncoding.DecodeString(v.cookie(cookieFlow))
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	v.setCookie(cookieFlow, "", 0)
	q := v.R.URL.Query()
	if err != nil || f.State == "" || subtle.ConstantTimeCompare([]byte(f.State), []byte(q.Get("state"))) != 1 {
		p := v.signIn()
		p.Over = true
		return v.signInPage(http.StatusForbidden, p)
	}
	switch q.Get("error") { // RFC 6749, 4.1.2.1
	case "":
	case "server_error", "temporarily_unavailable":
		return v.openIDUnknown(errors.New(q.Get("error")))
	default: // whoever was asked there said no
		p := v.signIn()
		p.Failed = true
		return v.signInPage(http.StatusForbidden, p)
	}
	subject, err := v.subject(q.Get("code"), f)
	if refused(err) {
		p := v.signIn()
		p.Over = true
		return v.signInPage(http.StatusForbidden, p)
	}
	if err != nil {
		return v.openIDUnknown(err)
	}
	principal, err := v.People(v.R.Context(), v.OpenID.Issuer, subject)
	if errors.Is(err, ErrNobody) {
		p := v.signIn()
		p.Nobody = true
		return v.signInPage(http.StatusForbidden, p)
	}
	if err != nil {
		return err
	}
	secret, err := v.Logins.Begin(v.R.Context(), principal, "openid")
	if err != nil {
		return err
	}
	return v.signedIn(secret, back(f.To))
}

// subject exchanges a code for the subject.
func (v *Visit) subject(code string, f flow) (string, error) {
	ctx, cancel := context.WithTimeout(v.R.Context(), openIDTime)
	defer cancel()
	provider, err := v.OpenID.found(ctx)
	if err != nil {
		return "", err
	}
	got, err := v.oauth(provider).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return "", err
	}
	raw, ok := got.Extra("id_token").(string)
	if !ok {
		return "", errors.New("there is no id_token in the answer")
	}
	token, err := provider.Verifier(&oidc.Config{ClientID: v.OpenID.ClientID, Now: v.Clock}).Verify(ctx, raw)
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		return "", errors.New("the id_token was made for another sign-in")
	}
	return token.Subject, nil
}
