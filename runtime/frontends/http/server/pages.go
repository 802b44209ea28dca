package server

import (
	"net/http"
	"net/url"

	"verbatim/runtime/frontends/http/pages"
)

// Pages for people who are not signed in, and pages that report an error.

// outside returns the frame of a page for anybody.
func (v *visit) outside(title string) pages.Page {
	p := pages.Page{Language: v.tongue(), Title: title, Head: title, Theme: v.cookie(cookieTheme), Org: v.public.Hostname(),
		Look: &pages.Act{URL: "/look", Hidden: []pages.Hidden{{Name: "to", Value: v.r.URL.RequestURI()}}}}
	if v.r.Method != http.MethodGet {
		p.Look.Hidden[0].Value = "/"
	}
	if p.Theme != "dark" && p.Theme != "light" {
		p.Theme = ""
	}
	return p
}

func (v *visit) signInPage(status int, s signIn) error {
	p := v.outside(v.tells("pages/sign-in"))
	to := pages.Hidden{Name: "to", Value: s.To}
	note := func(tone, text string) { p.Banners = append(p.Banners, pages.Banner{Tone: tone, Text: text}) }
	switch {
	case s.Over:
		note("warn", v.tells("pages/link-over"))
	case s.Nobody:
		note("warn", v.tells("pages/nobody"))
	case s.Failed:
		note("bad", v.tells("pages/openid-failed"))
	case s.Sent:
		note("ok", v.tells("pages/link-sent"))
	}
	var form *pages.Form
	switch {
	case s.Link != "" && !s.Over:
		form = &pages.Form{URL: "/sign-in/link", Hidden: []pages.Hidden{to, {Name: "link", Value: s.Link}}, Lines: []string{v.tells("pages/press-to-sign-in")}, Buttons: []pages.Button{{Text: v.tells("pages/sign-in"), Tone: "main"}}}
	case s.Mail:
		email := pages.Field{ID: "email", Name: "email", Kind: "email", Label: v.tells("pages/email"), Hint: v.tells("pages/email-hint"), Value: s.Email}
		form = &pages.Form{URL: "/sign-in/mail", Hidden: []pages.Hidden{to}, Buttons: []pages.Button{{Text: v.tells("pages/mail-link"), Tone: "main"}}}
		if status == http.StatusUnprocessableEntity {
			p.Wrong, email.Wrong = true, v.tells("pages/no-address")
			form.Wrong = []pages.Mistake{{Field: "email", Text: email.Wrong}}
		}
		form.Fields = []pages.Field{email}
	}
	if form != nil {
		p.Main = append(p.Main, *form)
	}
	if s.OpenID != "" && s.Link == "" {
		p.Main = append(p.Main, pages.Prose{ID: "openid", Links: []pages.Link{{URL: "/sign-in/openid?" + query("to", s.To), Text: v.tells("pages/sign-in-with", s.OpenID), Tone: "main"}}})
	}
	if len(p.Main) == 0 {
		p.Main = append(p.Main, pages.Prose{ID: "how", Lines: []string{v.tells("pages/link-elsewhere")}})
	}
	return v.render(status, p)
}

// failPage reports an error. A person who has to sign in is sent there, and then back to the page
// they wanted; their browser keeps what they typed.
func (v *visit) failPage(q problem) {
	if q.Code == errSignIn.Code {
		to := v.r.URL.RequestURI()
		if v.r.Method != http.MethodGet {
			// Go back to the form: the browser still has what was typed.
			to = "/"
			if u, err := url.Parse(v.r.Referer()); err == nil && u.Host == v.r.Host {
				to = back(u.RequestURI())
			}
		}
		_ = v.see(signInAt(to))
		return
	}
	title := v.tells("pages/not-possible")
	switch {
	case q.Status == http.StatusNotFound:
		title = v.tells("pages/not-found")
	case q.Code == codeNotMigrated:
		title = v.tells("pages/not-migrated")
	case q.Status >= 500 || q.Status == http.StatusTooManyRequests:
		title = v.tells("pages/busy")
	}
	p := v.outside(title)
	p.Wrong = true
	var lines []string
	if q.Status < 500 && q.Status != http.StatusNotFound {
		lines = append(lines, sentence(q.Title)+".")
	}
	p.Main = []pages.Block{pages.Prose{ID: "failed", Lines: append(lines, v.tells("pages/nothing-changed")), Links: []pages.Link{{URL: "/", Text: v.tells("pages/to-start"), Tone: "main"}}}}
	if v.render(q.Status, p) != nil {
		v.w.WriteHeader(http.StatusInternalServerError)
	}
}
