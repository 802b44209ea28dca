package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/mail"
	"verbatim/runtime/frontends/channel/signed"
	"verbatim/runtime/frontends/channel/whatsapp"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/state/contact"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/strict"
)

// Message channels. Palettes declare them (verbs.Conversation), and VERBATIM_CHANNELS names a JSON
// file with the accounts and secrets of each. The guide "channels" describes the file.

type channelsFile struct {
	As       string        `json:"as"`
	WhatsApp *whatsAppFile `json:"whatsapp"`
	Mail     *mailFile     `json:"mail"`
	Programs []programFile `json:"programs"`
	Private  bool          `json:"private"`
}

type whatsAppFile struct {
	API      string   `json:"api"`
	Numbers  []string `json:"numbers"`
	Token    string   `json:"token-env"`
	Secret   string   `json:"secret-env"`
	Verify   string   `json:"verify-env"`
	Media    []string `json:"media-hosts"`
	Ignore   []string `json:"ignore"`
	Template *struct {
		Name     string `json:"name"`
		Language string `json:"language"`
	} `json:"template"`
}

type mailFile struct {
	Domain     string   `json:"domain"`
	Inboxes    []string `json:"inboxes"`
	Listen     string   `json:"listen"`
	Cert       string   `json:"tls-cert"`
	Key        string   `json:"tls-key"`
	Plain      bool     `json:"plain"`
	AuthServID string   `json:"authserv-id"`
	Relays     []string `json:"relays"`
	Sealers    []string `json:"arc-sealers"`
	DNS        string   `json:"dns"`
	Mailgun    string   `json:"mailgun-key-env"`
	Submission struct {
		Server   string `json:"server"`
		User     string `json:"user"`
		Password string `json:"password-env"`
		Security string `json:"security"`
	} `json:"submission"`
}

type programFile struct {
	Name   string `json:"name"`
	Issuer string `json:"issuer"`
	Secret string `json:"secret-env"`
	Reply  string `json:"reply"`
}

// channelsNamed reads the file of VERBATIM_CHANNELS; nil if it is not set.
func (a *app) channelsNamed() (*channelsFile, error) {
	name := a.env("VERBATIM_CHANNELS")
	if name == "" {
		return nil, nil
	}
	unfit := func(why string) error {
		return usage(fmt.Sprintf("the file of channels %q of VERBATIM_CHANNELS cannot be used: %s", name, receipt.Safe(why)), "verbatim help channels")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, unfit(reason(err))
	}
	c := &channelsFile{As: "channels"}
	if err := strict.JSON(text, c); err != nil {
		return nil, unfit(err.Error())
	}
	return c, nil
}

// reached holds the channels that this process serves.
type reached struct {
	service *channel.Service
	routes  []server.Route
	address string // where mail is listened to, "" if nowhere
	mails   *mail.Adapter
	certs   *tls.Config // of that address, nil without TLS
	bound   net.Listener
	listen  []func(ctx context.Context) error // what listens beside HTTP, until ctx ends; after binds
	inboxes [][2]string                       // channel and address of each
}

// reach connects the palettes' channels to the service that handles messages; nil if there are
// none.
func (a *app) reach(reg *verbs.Registry, store stores.Store, engine *engine.Engine, s *channel.Service) (*reached, error) {
	file, err := a.channelsNamed()
	if err != nil || file == nil {
		return nil, err
	}
	wants := reg.Channels()
	if len(wants) == 0 {
		return nil, usage("VERBATIM_CHANNELS is set, and no palette has a conversation by a channel", "add channels: to the conversation of a palette, or unset it")
	}
	for _, in := range []struct {
		key, channel string
		there        bool
	}{{"whatsapp", whatsapp.Channel, file.WhatsApp != nil}, {"mail", mail.Channel, file.Mail != nil}, {"programs", signed.Channel, len(file.Programs) > 0}} {
		if in.there && !slices.Contains(wants, in.channel) {
			return nil, usage(fmt.Sprintf("the file of channels has %q, and no palette has a conversation by the channel %s", in.key, in.channel), "add "+in.channel+" to channels: of a conversation, or take it out of the file that VERBATIM_CHANNELS names")
		}
	}
	s.Registry, s.Store, s.Engine, s.As = reg, store, engine, file.As
	s.Adapters, s.Templates = map[string]channel.Adapter{}, map[string]channel.Template{}
	r := &reached{service: s}
	unfit := func(what string, err error) error {
		return usage(fmt.Sprintf("%s cannot be reached: %s", what, receipt.Safe(err.Error())), "check the file that VERBATIM_CHANNELS names")
	}
	secret := func(name string) (string, error) {
		if name == "" {
			return "", nil
		}
		if v := a.secret(name); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("the environment has no %s, which should hold a secret, and no %s_FILE that can be read", name, name)
	}
	if w := file.WhatsApp; w != nil {
		if err := r.whatsApp(w, file.Private, secret, s.Log.Warn); err != nil {
			return nil, unfit("WhatsApp", err)
		}
	}
	if m := file.Mail; m != nil {
		if err := r.mail(m, secret); err != nil {
			return nil, unfit("mail", err)
		}
	}
	if len(file.Programs) > 0 {
		if err := r.programs(file.Programs, file.Private, secret); err != nil {
			return nil, unfit("programs", err)
		}
	}
	if len(r.inboxes) == 0 {
		return nil, usage("none of the channels that palettes have stands in the file of channels", "they have "+strings.Join(wants, ", "))
	}
	return r, nil
}

// reachAtWork connects channels to a separate worker, which handles stored messages and sends
// answers, but receives nothing. The model is that of the environment, if any.
func (a *app) reachAtWork(ctx context.Context, reg *verbs.Registry, store stores.Store, engine *engine.Engine, clock func() time.Time, ends *[]func()) (*reached, error) {
	if a.env("VERBATIM_CHANNELS") == "" {
		return nil, nil
	}
	zone, err := a.zone()
	if err != nil {
		return nil, err
	}
	tokens, err := readBudget(usualBudget)
	if err != nil {
		return nil, err
	}
	chat := &chatFlags{mode: string(dialog.Tools), session: "kept", log: a.logger("info")}
	model, _, err := a.model(chat, zone, ends)
	if err != nil {
		return nil, err
	}
	files, err := a.shelved(ctx, reg, engine, ends)
	if err != nil {
		return nil, err
	}
	return a.reach(reg, store, engine, &channel.Service{Uploads: files, Talk: a.talks(reg, model, chat, tokens, zone), Clock: clock, Zone: zone, Log: a.logger("info")})
}

type secrets func(name string) (string, error)

// all reads several secrets.
func (s secrets) all(names ...string) (values []string, err error) {
	for _, name := range names {
		v, failed := s(name)
		values, err = append(values, v), errors.Join(err, failed)
	}
	return values, err
}

func (r *reached) whatsApp(f *whatsAppFile, private bool, secret secrets, warn func(string, ...any)) error {
	of, err := secret.all(f.Token, f.Secret, f.Verify)
	if err != nil {
		return err
	}
	w, err := whatsapp.New(whatsapp.Options{API: f.API, Token: of[0], Secret: of[1], Verify: of[2], Numbers: f.Numbers, Door: r.service, Clock: r.service.Clock,
		MediaHosts: f.Media, Ignore: f.Ignore, Private: private, Log: func(what string, times int) { warn("whatsapp", "what", what, "times", times) }})
	if err != nil {
		return err
	}
	r.join(whatsapp.Channel, w, f.Numbers)
	if t := f.Template; t != nil {
		r.service.Templates[strings.ToUpper(whatsapp.Channel)] = channel.Template{Name: t.Name, Language: t.Language}
	}
	for _, method := range [...]string{"GET", "POST"} {
		r.routes = append(r.routes, server.Route{Pattern: method + " /channels/whatsapp", Body: 4 << 20, Does: "Takes messages by WhatsApp.", Handle: server.Handler(w)})
	}
	return nil
}

func (r *reached) mail(f *mailFile, secret secrets) error {
	of, err := secret.all(f.Submission.Password, f.Mailgun)
	if err != nil {
		return err
	}
	ours := map[string]bool{}
	for _, at := range f.Inboxes {
		inbox, err := contact.Mail(at)
		if err != nil {
			return fmt.Errorf("%q is no address of mail", at)
		}
		ours[inbox] = true
		r.inboxes = append(r.inboxes, [2]string{mail.Channel, inbox})
	}
	o := mail.Options{Domain: f.Domain, Inboxes: func(address string) bool { return ours[address] }, Door: r.service, Clock: r.service.Clock, AuthServID: f.AuthServID, Sealers: f.Sealers, Plain: f.Plain, SigningKey: of[1], Once: r.service.Once, Log: r.service.Log.Warn,
		Submission: mail.Submission{Address: f.Submission.Server, User: f.Submission.User, Password: of[0], Security: f.Submission.Security}}
	for _, at := range f.Relays {
		net, err := netip.ParsePrefix(at)
		if err != nil {
			return fmt.Errorf("a relay is a network like 192.0.2.0/24, not %q", at)
		}
		o.Relays = append(o.Relays, net)
	}
	if f.DNS != "" {
		o.DNS = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, f.DNS)
		}}
	}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return errors.New("the certificate cannot be used: " + reason(err))
		}
		o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		r.certs = o.TLS
	}
	m, err := mail.New(o)
	if err != nil {
		return err
	}
	r.join(mail.Channel, m, nil)
	if of[1] != "" {
		r.routes = append(r.routes, server.Route{Pattern: "POST /channels/mail/mime", Body: 50 << 20, Does: "Takes mails of a provider.", Handle: server.Handler(m.Mailgun())})
	}
	r.address, r.mails = f.Listen, m
	return nil
}

func (r *reached) programs(all []programFile, private bool, secret secrets) error {
	o := signed.Options{Door: r.service, Clock: r.service.Clock, Private: private}
	var issuers []string
	for _, p := range all {
		key, err := secret(p.Secret)
		if err != nil {
			return err
		}
		o.Programs = append(o.Programs, signed.Program{Name: p.Name, Issuer: p.Issuer, Secret: key, Reply: p.Reply})
		issuers = append(issuers, p.Issuer)
	}
	s, err := signed.New(o)
	if err != nil {
		return err
	}
	r.join(signed.Channel, s, issuers)
	r.routes = append(r.routes, server.Route{Pattern: "POST /channels/api/{program}", Body: signed.MaxBody, Does: "Takes messages that a program signed.", Handle: server.Handler(s)})
	return nil
}

func (r *reached) join(name string, a channel.Adapter, inboxes []string) {
	r.service.Adapters[strings.ToUpper(name)] = a
	for _, address := range inboxes {
		r.inboxes = append(r.inboxes, [2]string{name, address})
	}
}

// open registers the inboxes.
func (r *reached) open(ctx context.Context) error {
	for _, in := range r.inboxes {
		if err := r.service.Open(ctx, in[0], in[1]); err != nil {
			return err
		}
	}
	return nil
}

// delivers sends channel messages itself, and passes other notices to send, which may be nil.
func (r *reached) delivers(send func(context.Context, engine.Message) error) func(context.Context, engine.Message) error {
	if r == nil {
		return send
	}
	return func(ctx context.Context, m engine.Message) error {
		mine, err := r.service.Deliver(ctx, m)
		if mine {
			return err
		}
		return nowhere(send)(ctx, m)
	}
}

// nowhere reports a notice without a route if send is nil.
func nowhere(send func(context.Context, engine.Message) error) func(context.Context, engine.Message) error {
	if send != nil {
		return send
	}
	return func(_ context.Context, m engine.Message) error {
		return &notify.Error{Code: notify.CodeNoRoute, Text: fmt.Sprintf("nothing says where notices to %s go", m.Target)}
	}
}

// binds opens the address of mail.
func (r *reached) binds(to *listeners) (err error) {
	if r.address == "" {
		return nil
	}
	if r.bound, err = to.take(r.address); err != nil {
		return broken("no mail can be taken", err, "name another address with listen")
	}
	r.listen = append(r.listen, func(ctx context.Context) error { return r.mails.Serve(ctx, r.bound) })
	return nil
}

// unbinds closes what binds opened.
func (r *reached) unbinds() {
	if r.bound != nil {
		_ = r.bound.Close()
	}
}

// withoutButtons lists the arguments with more codes than WhatsApp's buttons and lists can hold;
// they are asked with numbered lines.
func withoutButtons(reg *verbs.Registry) (all []string) {
	if reg == nil || !slices.Contains(reg.Channels(), whatsapp.Channel) {
		return nil
	}
	for _, v := range reg.Verbs() {
		for i := range v.Params {
			p := &v.Params[i]
			if v.Internal || len(v.Roles) == 0 || p.Type.Codes == nil || !p.Required {
				continue
			}
			var choices []channel.Choice
			for _, code := range p.Type.Codes.Codes {
				choices = append(choices, channel.Choice{ID: code.Name, Title: cmp.Or(code.Label, strings.ToLower(strings.ReplaceAll(code.Name, "_", " ")))})
			}
			if whatsapp.Shape("", choices) == whatsapp.Numbered {
				all = append(all, v.Name+" :"+p.Name)
			}
		}
	}
	return all
}
