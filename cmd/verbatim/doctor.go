package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/http/server"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// An examined part is a line of verbatim doctor.
type examined struct {
	What string `json:"what"`
	// Outcome is well, look if it works and somebody should look at it, or fails.
	Outcome string `json:"outcome"`
	Says    string `json:"says"`
	Next    string `json:"next,omitempty"`
}

const (
	well  = "well"
	look  = "look"
	fails = "fails"
)

// doctorTime is how long one part may take.
const doctorTime = 20 * time.Second

// A doctor examines what serve will use, with the flags and variables of serve. It sends no message
// and changes no row.
type doctor struct {
	a      *app
	flags  serveFlags
	wrong  []error // of variables that their flags do not take
	from   settings
	failed map[string]bool // the settings that cannot be read
	ends   []func()
	reg    *verbs.Registry // nil if the palettes do not load
	store  stores.Store    // nil if it does not open
	engine *engine.Engine
}

func doctorCommand(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Try all that serve will use, and say what to mend",
		Example: "verbatim doctor",
		Long: `Tries palettes, store, roles, tables, clock, the folders for state and files, the scanner, channels,
mail, sign-in, the model, the certificate and the address, as the variables of serve name
them. Each that does not work is printed with its next step. Nothing is sent, no row changes.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context(), f, a.flagsFromVariables(cmd))
		},
	}
	a.serveFlags(cmd, &f)
	return cmd
}

func (a *app) doctor(ctx context.Context, f serveFlags, wrong []error) error {
	a.examines = true
	d := &doctor{a: a, flags: f, wrong: wrong, failed: map[string]bool{}}
	defer func() {
		ended(d.ends)
		if d.store != nil {
			d.store.Close()
		}
	}()
	var all []examined
	for _, part := range [...]func(context.Context) []examined{
		d.settings, d.listens, d.palettes, d.opens, d.rights, d.tables, d.clock, d.state, d.disks, d.files, d.scanner, d.notices, d.channels, d.plans, d.openID, d.model, d.certificate, d.address,
	} {
		limited, cancel := context.WithTimeout(ctx, doctorTime)
		found := part(limited)
		cancel()
		if ctx.Err() != nil {
			return a.halted(ctx.Err())
		}
		all = append(all, found...)
		for _, e := range found {
			if a.json {
				continue
			}
			fmt.Fprintf(a.out, "%-5s  %-12s  %s\n", e.Outcome, e.What, receipt.Safe(e.Says))
			if e.Next != "" {
				fmt.Fprintf(a.out, "%21snext: %s\n", "", receipt.Safe(e.Next))
			}
		}
		if err := a.flush(); err != nil {
			return err
		}
	}
	failed := slices.ContainsFunc(all, func(e examined) bool { return e.Outcome == fails })
	if a.json {
		a.emit(struct {
			Schema string     `json:"schema"`
			Well   bool       `json:"well"`
			Parts  []examined `json:"parts"`
		}{"verbatim/doctor@1", !failed, all})
	}
	if failed {
		return said(exitSystem)
	}
	return nil
}

// result is what an attempt came to: next is the step where the error names none.
func result(what, says string, err error, next string) []examined {
	if err == nil {
		return []examined{{what, well, says, ""}}
	}
	var s *stop
	if errors.As(err, &s) {
		return []examined{{what, fails, s.text, s.next}}
	}
	return []examined{{what, fails, reason(err), next}}
}

// settings names each that serve would end with before it opens anything.
func (d *doctor) settings(context.Context) (all []examined) {
	for _, err := range d.wrong {
		all = append(all, result("settings", "", err, "")...)
	}
	d.from.chat = &chatFlags{session: "kept", log: d.a.logger("off")}
	for _, setting := range d.from.list(d.a, &d.flags, &d.ends) {
		if err := setting.read(); err != nil {
			d.failed[setting.part] = true
			all = append(all, result(setting.part, "", d.a.named(err), "verbatim help variables")...)
		}
	}
	if len(all) == 0 {
		return result("settings", "can be read", nil, "")
	}
	return all
}

// listens tries the addresses of the server. They are taken while it runs.
func (d *doctor) listens(context.Context) (all []examined) {
	for _, at := range [...]struct{ flag, address string }{{"listen", d.flags.listen}, {"metrics", d.flags.metrics}} {
		if at.address == "" || d.failed["listen"] {
			continue
		}
		l, err := net.Listen("tcp", at.address)
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			all = append(all, examined{at.flag, look, at.address + " is in use", "right while the server runs; else name another address, or end what listens there"})
			continue
		case err == nil:
			err = l.Close()
		default:
			err = usage(fmt.Sprintf("--%s is %s, where this user cannot listen: %s", at.flag, at.address, reason(err)), "name another address")
		}
		all = append(all, result(at.flag, at.address, d.a.named(err), "")...)
	}
	return all
}

// notSet is for what is left out: that may be meant.
func notSet(what, says, next string) []examined { return []examined{{what, look, says, next}} }

func (d *doctor) palettes(context.Context) []examined {
	reg, err := d.a.wholePalettes(d.flags.palettes)
	if err == nil {
		d.reg = reg
		return result("palettes", fmt.Sprintf("%s over %s, version %s", receipt.Counted(len(reg.Verbs()), "verb"), receipt.Counted(declared(reg), "entity"), server.PalettesVersion(reg)), nil, "")
	}
	var already said
	if errors.As(err, &already) { // its diagnostics are printed
		err = usage("they have mistakes", "verbatim lint names each with its place")
	}
	return result("palettes", "", err, "verbatim lint")
}

func (d *doctor) opens(ctx context.Context) []examined {
	if d.reg == nil {
		return nil
	}
	d.a.follows(d.a.logger("off"))
	_, store, eng, err := d.a.wire(ctx, setup{palettes: d.flags.palettes, store: d.flags.store}, d.from.tools)
	if err != nil {
		return result("store", "", err, "check $VERBATIM_STORE")
	}
	d.store, d.engine = store, eng
	at, err := d.a.storeAddress(d.flags.store)
	if err == nil && store.Full() {
		err = usage(at.String()+": its disk is full", "make room, then write once: the server notices by itself")
	}
	return result("store", at.String()+", with a role that sees what it may", err, "check $VERBATIM_STORE")
}

// rights looks whether the roles of a database may do more than they need, as after a restore by somebody else
// than a superuser.
func (d *doctor) rights(context.Context) (all []examined) {
	locked, ok := d.store.(interface{ Unlocked() []postgres.Unlocked })
	if !ok {
		return nil // a file has no roles
	}
	for _, u := range locked.Unlocked() {
		all = append(all, examined{"rights", fails, u.Why, toldUnlocked(u)})
	}
	if len(all) == 0 {
		return result("rights", "row-level security holds, and no role may do more than it needs", nil, "")
	}
	return all
}

func (d *doctor) tables(ctx context.Context) []examined {
	if d.store == nil {
		return nil
	}
	var why *server.Unfit
	plan, wrong, left, err := engine.Rehearse(ctx, d.reg, d.store, ownTables()...)
	switch {
	case errors.As(unfitFor(ctx, d.reg, d.store, plan, err), &why):
		return []examined{{"tables", fails, why.Why, why.Do}}
	case err != nil:
		return result("tables", "", err, "verbatim migrate --check, as the owner of the tables")
	case len(plan.Problems) > 0:
		return []examined{{"tables", fails, plan.Problems[0], "verbatim migrate --check"}}
	case wrong.HasErrors():
		return []examined{{"tables", fails, wrong[0].Summary, "verbatim migrate --check"}}
	case len(plan.Steps) > 0:
		return []examined{{"tables", fails, receipt.Counted(len(plan.Steps), "statement") + " of migrate were not run yet", "verbatim migrate, as the owner of the tables"}}
	case len(left) > 0:
		return []examined{{"tables", look, left[0], "verbatim migrate --check"}}
	}
	return result("tables", "as the palettes and the program want them", nil, "")
}

// clockWrong is a difference between two clocks that people would notice.
const clockWrong = 2 * time.Second

func (d *doctor) clock(ctx context.Context) []examined {
	if where, err := d.a.storeAddress(d.flags.store); d.store == nil || err != nil || where.url == "" {
		return nil // a file has no clock of its own
	}
	at, err := d.store.Clock(ctx)
	if err != nil {
		return result("clock", "", err, "check that the store answers")
	}
	if off := d.a.now().Sub(at).Round(time.Second); off.Abs() >= clockWrong {
		side := map[bool]string{true: "behind", false: "ahead of"}[off < 0]
		return []examined{{"clock", look, fmt.Sprintf("this machine is %s %s the store, by whose clock the server goes", off.Abs(), side), "have both machines follow a time server"}}
	}
	return result("clock", "as the store's", nil, "")
}

// canWrite tries whether a file can be made in a folder.
func canWrite(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".doctor")
	if err != nil {
		return err
	}
	_, err = f.WriteString("verbatim") // an empty file needs no room
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (d *doctor) state(context.Context) []examined {
	folder := d.a.stateFolder()
	if folder == "" {
		return []examined{{"state", fails, "nothing says where the program notes how far a store had come", "set STATE_DIRECTORY to a folder that stays"}}
	}
	return result("state", filepath.ToSlash(folder), by(filepath.ToSlash(folder), canWrite(folder)), "let this user write to "+shell(folder)+", or set STATE_DIRECTORY")
}

// disks looks whether the folders that the server writes to have room left.
func (d *doctor) disks(context.Context) []examined {
	all := d.a.disks(&d.flags)
	if why := small(all); why != "" {
		return []examined{{"disks", look, why, "make room; VERBATIM_ROOM says how much there should be, in MiB"}}
	}
	if len(all) == 0 {
		return nil
	}
	return result("disks", fmt.Sprintf("%d MiB and more are free in each folder", d.flags.room), nil, "")
}

func (d *doctor) files(ctx context.Context) []examined {
	if d.store == nil { // what is beside it would be made
		return nil
	}
	takes := slices.ContainsFunc(d.reg.Verbs(), func(v *verbs.Verb) bool {
		return v.Read != nil && v.Read.File != "" || slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Upload != nil })
	})
	where, err := d.a.filesAt("", d.flags.store)
	if err != nil {
		if takes {
			return result("files", "", err, "")
		}
		return nil
	}
	kept, err := d.a.openFiles(ctx, where)
	if err != nil {
		return result("files", "", err, "")
	}
	defer kept.Close()
	taken, err := kept.Take(ctx, bytes.NewReader([]byte("verbatim doctor")), 1<<10)
	if err == nil {
		taken.Drop()
	}
	return result("files", kept.String(), err, "check who may write there, and that there is room")
}

func (d *doctor) scanner(ctx context.Context) []examined {
	who := d.a.env("VERBATIM_SCAN")
	if who == "" {
		return notSet("scanner", "files of people are not taken: nothing says who looks at them", "set VERBATIM_SCAN to clamd://HOST:PORT if they should be")
	}
	s, err := d.a.scanner("")
	if err != nil {
		return nil // the store's line says it
	}
	if s == intake.NoScanner {
		return notSet("scanner", "nobody looks at files for harm", "set VERBATIM_SCAN to clamd://HOST:PORT")
	}
	_, err = s.Scan(ctx, strings.NewReader("verbatim doctor"))
	return result("scanner", s.String(), by(s.String(), err), "check that it runs and can be reached")
}

func (d *doctor) notices(ctx context.Context) []examined {
	s := d.from.channels
	if d.failed["notices"] {
		return nil
	}
	if s == nil {
		return notSet("notices", "nobody is told of anything by letter or webhook", "set VERBATIM_NOTIFY: verbatim help notices")
	}
	tried := s.Try(ctx)
	var all []examined
	for _, name := range slices.Sorted(maps.Keys(tried)) {
		all = append(all, result("notices", name, by(name, tried[name]), "check the channel in the file that VERBATIM_NOTIFY names")...)
	}
	return all
}

// by puts the name of what was tried before an error.
func by(name string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %s", name, reason(err))
	}
	return err
}

func (d *doctor) channels(ctx context.Context) (all []examined) {
	if d.store == nil || d.a.env("VERBATIM_CHANNELS") == "" {
		return nil
	}
	to, err := d.a.reach(d.reg, d.store, d.engine, &channel.Service{Clock: d.a.now, Log: d.a.logger("off")})
	if err != nil {
		return result("channels", "", err, "verbatim help channels")
	}
	for _, name := range slices.Sorted(maps.Keys(to.service.Adapters)) {
		if t, ok := to.service.Adapters[name].(interface{ Try(context.Context) error }); ok {
			name = strings.ToLower(name)
			all = append(all, result("channels", name, by(name, t.Try(ctx)), "check "+name+" in the file that VERBATIM_CHANNELS names")...)
		}
	}
	return all
}

func (d *doctor) plans(context.Context) []examined {
	if d.store == nil {
		return nil
	}
	plans, err := d.a.plans(d.reg, d.store, d.engine, d.from.model, d.a.now, nil, d.a.logger("off"))
	if err == nil && plans == nil {
		return nil
	}
	if err == nil {
		_, err = plans.queue(d.a.secret)
	}
	return result("plans", "as the file says that VERBATIM_PLANS names", err, "verbatim help make-plans")
}

func (d *doctor) openID(ctx context.Context) []examined {
	o := d.from.openID
	if o == nil {
		return nil
	}
	return result("sign-in", o.Issuer, o.Try(ctx), "check VERBATIM_OPENID, and that this machine reaches it")
}

func (d *doctor) model(ctx context.Context) []examined {
	if d.failed["model"] {
		return nil
	}
	d.flags.modelFlags = d.from.chat.modelFlags
	if d.flags.model == "" {
		return notSet("model", "none is asked: conversations go by the palettes' phrases", "set VERBATIM_MODEL and VERBATIM_BASE_URL if one should be")
	}
	client, err := d.a.client(&d.flags.modelFlags, llm.NoGrammars, nil)
	if err != nil {
		return result("model", "", err, "")
	}
	client.Attempts = 1
	ask := func(question string) modelAnswer {
		questions := modelQuestions()
		answer, _ := d.a.modelAsked(ctx, client, &questions[slices.IndexFunc(questions, func(q modelQuestion) bool { return q.name == question })])
		return answer
	}
	// A conversation lives by calls; what else there is, model check tells.
	called := ask(forcedTool)
	if called.Outcome == modelWorks {
		return result("model", d.flags.model+" answers, and calls a tool", nil, "")
	}
	if spoke := ask(plainText); spoke.Outcome != modelWorks {
		return []examined{{"model", fails, spoke.Says, "verbatim model check"}}
	}
	return []examined{{"model", look, d.flags.model + " answers, and calls no tool: " + called.Says, "verbatim model check; serve with --mode text goes without tools"}}
}

// certificateSoon is how long before its end a certificate should be renewed.
const certificateSoon = 14 * 24 * time.Hour

func (d *doctor) certificate(context.Context) []examined {
	certs := d.from.certs
	if certs == nil {
		return nil
	}
	leaf, err := leafOf(&certs.Certificates[0])
	if err != nil {
		return result("certificate", "", err, "check --tls-cert")
	}
	until, now := leaf.NotAfter.UTC().Format(time.DateOnly), d.a.now()
	for _, at := range d.flags.urls {
		if u, err := url.Parse(at); err == nil && leaf.VerifyHostname(u.Hostname()) != nil {
			return []examined{{"certificate", fails, "it is not for " + u.Hostname(), "get one that names the host of --url"}}
		}
	}
	switch {
	case outOfTime(certs, now) != "":
		return []examined{{"certificate", fails, outOfTime(certs, now), nextOfTime}}
	case now.Add(certificateSoon).After(leaf.NotAfter):
		return []examined{{"certificate", look, "it ends on " + until, "renew it"}}
	}
	return result("certificate", "until "+until, nil, "")
}

func leafOf(pair *tls.Certificate) (*x509.Certificate, error) {
	if pair.Leaf != nil {
		return pair.Leaf, nil
	}
	return x509.ParseCertificate(pair.Certificate[0])
}

// address asks the server that runs by now, by the way that people take: a proxy has to pass the host.
func (d *doctor) address(ctx context.Context) (all []examined) {
	if d.failed["address"] {
		return nil
	}
	if len(d.flags.urls) == 0 {
		return notSet("address", "nothing says how people reach the server", "set VERBATIM_URL, for example https://portal.bank.example")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, at := range d.flags.urls {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(at, "/")+"/readyz", nil)
		if err != nil {
			return result("address", "", err, "")
		}
		answer, err := client.Do(req)
		if err != nil {
			all = append(all, notSet("address", at+" does not answer: "+innermost(err), addressNext(err))...)
			continue
		}
		answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK:
			all = append(all, result("address", at+" answers", nil, "")...)
		case http.StatusMisdirectedRequest:
			all = append(all, examined{"address", fails, at + " is not the name that the server knows", "let the proxy pass the header Host as it came, and start the server with this --url"})
		case http.StatusServiceUnavailable:
			all = append(all, examined{"address", fails, at + " is reached and is not ready", "its log says why"})
		default:
			all = append(all, examined{"address", fails, fmt.Sprintf("%s answers with status %d", at, answer.StatusCode), "check that the proxy leads to the server"})
		}
	}
	return all
}

// addressNext is what helps where an address does not answer.
func addressNext(err error) string {
	var name *net.DNSError
	var trusts *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name):
		return "check the name in DNS, as this machine asks it"
	case errors.As(err, &trusts):
		return "check the certificate of the proxy; SSL_CERT_FILE names a file with the authority of your own, if it is one"
	}
	return "right while neither server nor proxy runs; else check the proxy and what filters the way to it"
}

// innermost is the cause of an error without the request that it belongs to.
func innermost(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return reason(err)
}
