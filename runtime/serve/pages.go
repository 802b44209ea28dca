package serve

import (
	"html/template"
	"net/http"
)

func (s *Server) pageRoutes() []Route { return nil }

func (v *visit) language() string { return "en" }

var plainPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>{{.Title}}</title><h1>{{.Title}}</h1>
{{with .SignIn}}{{if .Link}}<form method="post" action="/sign-in/link"><input type="hidden" name="link" value="{{.Link}}"><input type="hidden" name="to" value="{{.To}}"><button>Sign in</button></form>
{{else if .Mail}}<form method="post" action="/sign-in/mail"><input type="hidden" name="to" value="{{.To}}"><label>E-mail <input type="email" name="email" autocomplete="email" required></label><button>Send me a link</button></form>{{end}}
{{with .OpenID}}<a href="/sign-in/openid">{{.}}</a>{{end}}{{end}}</html>`))

func (v *visit) signInPage(status int, p signIn) error {
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	return plainPage.Execute(v.w, struct {
		Title  string
		SignIn *signIn
	}{"Sign in", &p})
}

func (v *visit) failPage(p problem) {
	if p.Code == errSignIn.Code && v.r.Method == http.MethodGet {
		_ = v.see(signInAt(v.r.URL.RequestURI()))
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(p.Status)
	_ = plainPage.Execute(v.w, struct {
		Title  string
		SignIn *signIn
	}{p.Title, nil})
}
