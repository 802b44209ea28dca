package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/verbs"
	"verbatim/verbs/explain"
)

// What all pages share: their language, their frame, and how people like to see them. And the pages
// for people who are not signed in, and those that report an error.

// Language returns the language of the pages: what the person chose, their own, or what their browser
// prefers.
func (v *Visit) Language() values.Language {
	if l, ok := values.ParseLanguage(v.Setting("language")); ok {
		return l
	}
	if v.Session != nil {
		if l, ok := values.ParseLanguage(v.Session.Person().Language); ok {
			return l
		}
	}
	return v.Browser()
}

// Browser returns the language that was chosen in the browser, or that it prefers.
func (v *Visit) Browser() values.Language {
	if l, ok := values.ParseLanguage(v.Setting("language")); ok {
		return l
	}
	for tag := range strings.SplitSeq(v.R.Header.Get("Accept-Language"), ",") {
		if l, ok := values.ParseLanguage(strings.TrimSpace(tag)); ok {
			return l
		}
	}
	return values.English
}

// Say words a message in the language of the pages.
func (v *Visit) Say(key values.Key, of ...string) string { return key.In(v.Language(), of...) }

// Explained returns the reference of a verb. Where it is declared is the name of a file, without the
// path on this machine.
func Explained(v *verbs.Verb) (string, error) {
	var text strings.Builder
	if err := explain.Verb(&text, v); err != nil {
		return "", err
	}
	if v.Place.Source == nil {
		return text.String(), nil
	}
	name := v.Place.Source.Name
	return strings.ReplaceAll(text.String(), name, path.Base(name)), nil
}

// NotFound is the error of a page that does not exist, or not for this person.
func (v *Visit) NotFound() error {
	return Problem{Status: http.StatusNotFound, Code: "not-found", Title: v.Say("pages/not-found")}
}

// Frame returns the part of a page around its blocks that all pages have.
func (v *Visit) Frame(title string) pages.Page {
	return pages.Page{Language: v.Language(), Title: title, Head: title, Theme: v.Setting("theme"), Brand: v.Brand,
		Look: &pages.Act{URL: "/look", Hidden: []pages.Hidden{{Name: "to", Value: v.R.URL.RequestURI()}}}}
}

// Render answers with a page.
func (v *Visit) Render(status int, p pages.Page) error {
	var out bytes.Buffer
	if err := p.Render(&out); err != nil {
		return err
	}
	return v.sendSmall(status, "text/html; charset=utf-8", out.Bytes(), func() []byte { return pages.Compress(out.Bytes(), gzip.BestSpeed) })
}

// sendSmall answers with a text, by gzip where the client takes that, which small makes.
func (v *Visit) sendSmall(status int, kind string, text []byte, small func() []byte) error {
	h := v.W.Header()
	h.Add("Vary", "Accept-Encoding")
	if takesGzip(v.R.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		text = small()
	}
	return v.Send(status, kind, text)
}

// takesGzip reports whether an Accept-Encoding names gzip, and not with the weight 0.
func takesGzip(accepts string) bool {
	for of := range strings.SplitSeq(accepts, ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(of), " ", ""), ";")
		if name == "gzip" {
			q, err := strconv.ParseFloat(strings.TrimPrefix(weight, "q="), 64)
			return weight == "" || err == nil && q > 0
		}
	}
	return false
}

func (v *Visit) asset() error {
	text, small, kind, ok := pages.Asset(v.R.PathValue("name"))
	if !ok {
		return v.NotFound()
	}
	v.W.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	return v.sendSmall(http.StatusOK, kind, text, small)
}

// settings are what somebody may choose on every page, with the values of each. A cookie keeps it.
var settings = map[string][]string{"theme": {"light", "dark"}, "keys": {"on", "off"}, "language": {"en", "de", "fr", "es"}}

// Setting returns what the person chose for the theme, the keys or the language, "" if nothing.
func (v *Visit) Setting(name string) string {
	if chosen := v.cookie("verbatim-" + name); slices.Contains(settings[name], chosen) {
		return chosen
	}
	return ""
}

// look stores settings.
func (v *Visit) look() error {
	if err := v.Form(); err != nil {
		return err
	}
	for name, all := range settings {
		if chosen := v.R.PostForm.Get(name); slices.Contains(all, chosen) {
			v.setCookie("verbatim-"+name, chosen, 365*24*time.Hour)
		}
	}
	return v.See(back(v.R.PostForm.Get("to")))
}

// outside returns the frame of a page for anybody.
func (v *Visit) outside(title string) pages.Page {
	p := v.Frame(title)
	if v.R.Method != http.MethodGet {
		p.Look.Hidden[0].Value = "/"
	}
	return p
}

func (v *Visit) signInPage(status int, s signIn) error {
	p := v.outside(v.Say("pages/sign-in"))
	to := pages.Hidden{Name: "to", Value: s.To}
	note := func(tone, text string) { p.Banners = append(p.Banners, pages.Banner{Tone: tone, Text: text}) }
	switch {
	case s.Kept:
		note("warn", v.Say("pages/signed-out-kept"))
	case s.Over:
		note("warn", v.Say("pages/link-over"))
	case s.Nobody:
		note("warn", v.Say("pages/nobody"))
	case s.Failed:
		note("bad", v.Say("pages/openid-failed"))
	case s.Sent:
		note("ok", v.Say("pages/link-sent"))
	}
	var form *pages.Form
	switch {
	case s.Link != "" && !s.Over:
		form = &pages.Form{URL: "/sign-in/link", Hidden: []pages.Hidden{to, {Name: "link", Value: s.Link}}, Lines: []string{v.Say("pages/press-to-sign-in")}, Buttons: []pages.Button{{Text: v.Say("pages/sign-in"), Tone: "main"}}}
	case s.Mail:
		email := pages.Field{ID: "email", Name: "email", Kind: "email", Label: v.Say("pages/email"), Hint: v.Say("pages/email-hint"), Value: s.Email}
		form = &pages.Form{URL: "/sign-in/mail", Hidden: []pages.Hidden{to}, Buttons: []pages.Button{{Text: v.Say("pages/mail-link"), Tone: "main"}}}
		if status == http.StatusUnprocessableEntity {
			p.Wrong, email.Wrong = true, v.Say("pages/no-address")
			form.Wrong = []pages.Mistake{{Field: "email", Text: email.Wrong}}
		}
		form.Fields = []pages.Field{email}
	}
	if form != nil {
		p.Main = append(p.Main, *form)
	}
	if s.OpenID != "" && s.Link == "" {
		p.Main = append(p.Main, pages.Prose{ID: "openid", Links: []pages.Link{{URL: "/sign-in/openid?" + url.Values{"to": {s.To}}.Encode(), Text: v.Say("pages/sign-in-with", s.OpenID), Tone: "main"}}})
	}
	if len(p.Main) == 0 {
		p.Main = append(p.Main, pages.Prose{ID: "how", Lines: []string{v.Say("pages/link-elsewhere")}})
	}
	return v.Render(status, p)
}

// failPage reports an error. A person who has to sign in is sent there, and then back to the page
// they wanted; their browser keeps what they typed.
func (v *Visit) failPage(q Problem) {
	if q.Code == errSignIn.Code {
		to := v.R.URL.RequestURI()
		if v.R.Method != http.MethodGet {
			// Go back to the form: the browser still has what was typed.
			to = "/"
			if u, err := url.Parse(v.R.Referer()); err == nil && u.Host == v.R.Host {
				to = back(u.RequestURI())
			}
		}
		to = SignInAt(to)
		if v.R.Method == http.MethodPost {
			to += "&kept=1"
		}
		_ = v.See(to)
		return
	}
	title, ends := v.Say("pages/not-possible"), v.Say("pages/nothing-changed")
	switch {
	case q.unsure:
		title, ends = v.Say("pages/unknown-end"), v.Say("pages/unknown-next")
	case q.Status == http.StatusNotFound:
		title = v.Say("pages/not-found")
	case q.Code == codeNotMigrated:
		title = v.Say("pages/not-migrated")
	case q.Code == "busy" || q.Status == http.StatusTooManyRequests:
		title = v.Say("pages/busy")
	}
	p := v.outside(title)
	p.Wrong = true
	var lines []string
	if v.R.Method == http.MethodPost && !q.unsure {
		ends += " " + v.Say("pages/typed-kept")
	}
	if q.Status == http.StatusNotFound {
		ends = v.Say("pages/not-found-next")
	}
	if q.Status < 500 && q.Status != http.StatusNotFound {
		lines = append(lines, pages.Sentence(q.Title)+".")
	}
	if key := dialog.Trouble(q.Code); key != "" {
		ends = v.Say(key)
	}
	p.Main = []pages.Block{pages.Prose{ID: "failed", Lines: append(lines, ends), Links: []pages.Link{{URL: "/", Text: v.Say("pages/to-start"), Tone: "main"}}}}
	if v.Render(q.Status, p) != nil {
		v.W.WriteHeader(http.StatusInternalServerError)
	}
}
