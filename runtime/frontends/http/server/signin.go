package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/stores"
)

// Signing in: by a mailed link, by a link from the operator, or by OpenID Connect. An unknown
// person gets the same answer as a known one.

// The cookies. Their names tell the browser that no other site may set them.
const (
	cookieLogin = "verbatim"        // the secret of a login
	cookieAsked = "verbatim-asked"  // the secret of a browser that asked for a link
	cookieFlow  = "verbatim-openid" // the state of an OpenID sign-in
)

func (s *Server) cookieName(name string) string {
	if s.secure() {
		return "__Host-" + name
	}
	return name
}

// setCookie stores a value in the browser for a while; an empty value deletes it.
func (v *Visit) setCookie(name, value string, lasts time.Duration) {
	c := &http.Cookie{Name: v.cookieName(name), Value: value, Path: "/", HttpOnly: true, Secure: v.secure(), SameSite: http.SameSiteLaxMode, MaxAge: int(lasts / time.Second)}
	if lasts == 0 {
		c.MaxAge = -1
	}
	http.SetCookie(v.W, c)
}

func (v *Visit) cookie(name string) string {
	c, err := v.R.Cookie(v.cookieName(name))
	if err != nil {
		return ""
	}
	return c.Value
}

// signIn is the content of the sign-in page.
type signIn struct {
	To     string // where to go after the sign-in
	Mail   bool   // a link can be mailed
	Email  string // the address that was typed
	OpenID string // the name of the identity provider, "" if there is none
	Sent   bool   // a link was mailed, if the address belongs to somebody
	Link   string // to be used by a press of a button
	Over   bool   // the link is used, expired, or another browser's
	Nobody bool   // the other system knows them, and this one does not
	Failed bool   // the other system did not answer as it should
}

func (v *Visit) signIn() signIn {
	p := signIn{To: back(v.R.FormValue("to")), Mail: v.Mail}
	if v.OpenID != nil {
		p.OpenID = v.OpenID.Name
	}
	return p
}

const formSize = 16 << 10

// Form reads a form in which each field occurs once.
func (v *Visit) Form() error {
	if err := v.R.ParseForm(); err != nil {
		return CutShort(err)
	}
	for _, values := range v.R.PostForm {
		if len(values) > 1 {
			return BadBody("a field was sent twice", "go back and send the form again")
		}
	}
	return nil
}

// How many attempts one address, and one account, has in a quarter of an hour.
const (
	triesPeriod  = 15 * time.Minute
	triesAddress = 20
	triesAccount = 5
)

// mailLink mails a link to a person known by the address. If nobody is, it answers the same, after
// the same time.
func (v *Visit) mailLink() error {
	if err := v.Form(); err != nil {
		return err
	}
	if !v.Mail || v.People == nil {
		return Problem{Status: http.StatusNotFound, Code: "no-mail", Title: "nobody signs in by mail here"}
	}
	ctx := v.R.Context()
	p := v.signIn()
	p.Email = v.R.PostForm.Get("email")
	to, err := mail.ParseAddress(p.Email)
	if err != nil || strings.ContainsAny(to.Address, "\r\n") {
		return v.signInPage(http.StatusUnprocessableEntity, p)
	}
	address := strings.ToLower(to.Address)
	if err := v.Logins.Try(ctx, "link from", v.address(v.R), triesAddress, triesPeriod); err != nil {
		return err
	}
	asked := v.cookie(cookieAsked)
	if asked == "" {
		asked = logins.Secret()
	}
	v.setCookie(cookieAsked, asked, 2*logins.Link) // as long as a link that leaves late is good
	language := v.Language().String()
	v.later(func(ctx context.Context) error {
		// The number of mails to an account is limited too; the answer does not say so.
		if err := v.Logins.Try(ctx, "link to", address, triesAccount, triesPeriod); errors.Is(err, logins.ErrTooMany) {
			return nil
		} else if err != nil {
			return err
		}
		principal, err := v.People(ctx, "email", address)
		if errors.Is(err, ErrNobody) {
			return nil
		}
		if err != nil {
			return err
		}
		job := v.Engine.Notice(TargetSignIn, v.Clock(), principal, stores.NewObject([]string{"address", "browser", "language", "origin", "principal", "to"},
			[]stores.Value{stores.NewString(address), stores.NewString(logins.Digest(asked)), stores.NewString(language), stores.NewString(v.Origin()), stores.NewString(principal), stores.NewString(p.To)}))
		return v.Store.Update(ctx, stores.Scope{Principal: "verbatim", All: true}, func(tx stores.Tx) error {
			return tx.Apply(ctx, stores.Batch{Jobs: []stores.Job{job}})
		})
	})
	p.Sent = true
	return v.signInPage(http.StatusOK, p)
}

// TargetSignIn is the target of notices that ask for a sign-in link to be mailed. The queue tries
// such a notice again, as it does every other, and holds no secret: the link is made when the letter
// is written.
const TargetSignIn = "sign-in"

// SignInLink makes the link that a notice asks for. It returns logins.ErrOver for a notice that is
// older than a link may be: whoever asked has asked again, or given up.
func SignInLink(ctx context.Context, book *logins.Book, m engine.Message) (to, language, link string, err error) {
	var ask struct{ Address, Browser, Language, Origin, Principal, To string }
	if err := json.Unmarshal([]byte(m.Body), &ask); err != nil {
		return "", "", "", err
	}
	if book.Clock().Sub(m.Time) > logins.Link {
		return "", "", "", logins.ErrOver
	}
	secret, err := book.Link(ctx, ask.Principal, ask.Browser, logins.Link)
	return ask.Address, ask.Language, ask.Origin + "/sign-in/link?" + url.Values{"link": {secret}, "to": {ask.To}}.Encode(), err
}

// later runs a function after the answer, within the life of the server.
func (s *Server) later(do func(context.Context) error) {
	s.after.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
		defer cancel()
		if err := do(ctx); err != nil {
			s.Log.Error("later", "error", err.Error())
		}
	})
}

// showLink shows a button that signs in. Mail scanners follow links, but press no buttons.
func (v *Visit) showLink() error {
	p := v.signIn()
	p.Link = v.R.FormValue("link")
	return v.signInPage(http.StatusOK, p)
}

func (v *Visit) useLink() error {
	if err := v.Form(); err != nil {
		return err
	}
	ctx := v.R.Context()
	p := v.signIn()
	if err := v.Logins.Try(ctx, "use from", v.address(v.R), 4*triesAddress, triesPeriod); err != nil {
		return err
	}
	secret, _, err := v.Logins.Use(ctx, v.R.PostForm.Get("link"), v.cookie(cookieAsked), "link")
	if errors.Is(err, logins.ErrOver) {
		p.Over = true
		return v.signInPage(http.StatusForbidden, p)
	}
	if err != nil {
		return err
	}
	return v.signedIn(secret, p.To)
}

// signedIn gives the browser a new login, and ends the one that it had.
func (v *Visit) signedIn(secret, to string) error {
	if old := v.cookie(cookieLogin); old != "" {
		if err := v.endLogin(old); err != nil {
			return err
		}
	}
	v.setCookie(cookieLogin, secret, logins.Longest)
	v.setCookie(cookieAsked, "", 0)
	return v.See(to)
}

func (v *Visit) endLogin(secret string) error {
	v.known.forget("login " + logins.Digest(secret))
	return v.Logins.End(v.R.Context(), secret)
}

func (v *Visit) signOut() error {
	if secret := v.cookie(cookieLogin); secret != "" {
		if err := v.endLogin(secret); err != nil {
			return err
		}
	}
	v.setCookie(cookieLogin, "", 0)
	v.W.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	return v.See("/sign-in")
}
