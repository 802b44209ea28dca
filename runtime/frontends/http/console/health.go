package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/portal"
	"verbatim/runtime/frontends/http/server"
	"verbatim/stores"
	"verbatim/verbs"
)

// Whether everything is well, and what to do where it is not; and the work for later, by its state.

// The verbs of the system's palette that tend jobs.
const (
	verbJobs  = "system.jobs"
	verbRetry = "system.retry-job"
	verbDrop  = "system.drop-job"
)

// operates reports whether a person looks after jobs.
func operates(d *portal.Desk) bool {
	v := d.Registry.Verb(verbJobs)
	return v != nil && d.Session.May(v)
}

// Operates reports whether a person may see the health page: those who look after jobs, and those who
// keep the journal.
func Operates(d *portal.Desk) bool { return operates(d) || d.Keeps() }

const (
	lateWork   = 5 * time.Minute // how long after its time work counts as not taken up
	endingSoon = 24 * time.Hour
	jobsPage   = 50
)

// A check is one thing that is well, or is to be looked at.
type check struct {
	well bool
	says string
	link *pages.Link // the next step
}

// checks looks at what a server needs.
func (d *desk) checks() (all []check, err error) {
	ctx := d.R.Context()
	add := func(well bool, says string, link *pages.Link) { all = append(all, check{well, says, link}) }
	counts, err := d.Store.CountJobs(ctx)
	if err != nil || d.Store.Full() {
		d.LogError("health", errors.Join(err, errors.New("the store does not answer, or is full")))
		add(false, d.Say("pages/staff-store-not"), nil)
		return all, nil
	}
	add(true, d.Say("pages/staff-store"), nil)
	add(true, d.Say("pages/staff-palettes", server.PalettesVersion(d.Registry)), nil)
	if d.Meter != nil {
		if d.Meter.Down() {
			add(false, d.Say("pages/staff-model-not"), nil)
		}
		for _, name := range d.Meter.Silent() {
			add(false, d.Say("pages/staff-channel-not", name), nil)
		}
	}
	if d.Mail {
		add(true, d.Say("pages/staff-mail"), nil)
	}
	now := d.Clock()
	link := func(state string) *pages.Link {
		if !operates(d.Desk) {
			return nil
		}
		return &pages.Link{URL: "/health?" + url.Values{"state": {state}}.Encode() + "#jobs", Text: d.Say("pages/staff-look")}
	}
	if !counts.Due.IsZero() && now.Sub(counts.Due) > lateWork {
		add(false, d.Say("pages/staff-no-worker", d.Time(counts.Due)), link("waiting"))
	} else {
		add(true, d.Say("pages/staff-worker"), nil)
	}
	if counts.Dead > 0 {
		add(false, d.Say("pages/staff-dead", strconv.Itoa(counts.Dead)), link("dead"))
	}
	if !counts.Failing.IsZero() {
		add(false, d.Say("pages/staff-failing", d.Time(counts.Failing)), link("failing"))
	}
	ending, err := d.Engine.Ending(ctx, endingSoon)
	if err != nil {
		return nil, err
	}
	if ending > 0 {
		add(false, d.Say("pages/staff-ending", strconv.Itoa(ending)), nil)
	}
	if d.Keeps() {
		unknown, err := d.Session.Journal().Unsettled(ctx)
		if err != nil {
			return nil, err
		}
		if len(unknown) > 0 {
			add(false, d.Say("pages/unknown-list", strconv.Itoa(len(unknown))), &pages.Link{URL: "/open", Text: d.Say("pages/staff-look")})
		}
	}
	if d.Notes != nil {
		for _, note := range d.Notes(ctx) {
			add(false, note.Says, nil)
		}
	}
	return all, nil
}

// healthPage shows whether everything is well, the jobs of a state, and what was done by day.
func (d *desk) healthPage() error {
	if !Operates(d.Desk) {
		return d.NotFound()
	}
	all, err := d.checks()
	if err != nil {
		return err
	}
	p := d.Frame(d.Say("pages/staff-health"))
	p.Wide = true
	bad := 0
	table := pages.Table{ID: "checks", Title: d.Say("pages/staff-looked-at"), Head: []string{d.Say("plans/state"), d.Say("pages/staff-what"), d.Say("pages/staff-next")}}
	for _, well := range [...]bool{false, true} {
		for _, c := range all {
			if c.well != well {
				continue
			}
			cells := []pages.Cell{{Text: d.Say(map[bool]values.Key{true: "pages/staff-ok", false: "pages/staff-ill"}[well])}, {Text: c.says}, {}}
			if c.link != nil {
				cells[2] = pages.Cell{Text: c.link.Text, URL: c.link.URL}
			}
			if table.Rows = append(table.Rows, cells); !well {
				bad++
			}
		}
	}
	if bad == 0 {
		p.Banners = append(p.Banners, pages.Banner{Tone: "ok", Text: d.Say("pages/staff-all-well")})
	} else {
		p.Banners = append(p.Banners, pages.Banner{Tone: "warn", Text: d.Say("pages/staff-to-look-at", strconv.Itoa(bad))})
	}
	p.Main = []pages.Block{table}
	if operates(d.Desk) {
		jobs, err := d.jobs()
		if err != nil {
			return err
		}
		p.Main = append(p.Main, jobs)
	}
	if d.Keeps() {
		size, _, err := d.Store.Head(d.R.Context())
		if err != nil {
			return err
		}
		plots, err := d.plots(d.R.Context(), size)
		if err != nil {
			return err
		}
		state, err := chain(d.R.Context(), d.Store, d.Language())
		if err != nil {
			return err
		}
		p.Main = append(append(p.Main, pages.Prose{ID: "chain", Title: d.Say("pages/journal"), Lines: []string{state}}), plots...)
	}
	p.Main = append(p.Main, d.latency()...)
	return d.Render(http.StatusOK, p)
}

// jobStates are the states by which jobs are listed.
var jobStates = []struct {
	name string
	text values.Key
	is   stores.JobFilter
}{
	{"dead", "pages/staff-job-dead", stores.JobFilter{States: []stores.JobState{stores.JobDead}}},
	{"failing", "pages/staff-job-failing", stores.JobFilter{States: []stores.JobState{stores.JobWaiting}, Tried: true}},
	{"waiting", "pages/staff-job-waiting", stores.JobFilter{States: []stores.JobState{stores.JobWaiting}}},
	{"running", "pages/staff-job-running", stores.JobFilter{States: []stores.JobState{stores.JobRunning}}},
	{"done", "pages/staff-job-done", stores.JobFilter{States: []stores.JobState{stores.JobDone}}},
}

// jobs lists the jobs of the state in the URL, with the form that tends several of them.
func (d *desk) jobs() (pages.Picks, error) {
	at := max(0, slices.IndexFunc(jobStates, func(s struct {
		name string
		text values.Key
		is   stores.JobFilter
	}) bool {
		return s.name == d.R.URL.Query().Get("state")
	}))
	out := pages.Picks{ID: "jobs", Title: d.Say("pages/staff-queue"), URL: "/health/jobs", Name: "job", Empty: d.Say("pages/none"),
		Head: []string{d.Say("pages/staff-what"), d.Say("pages/who"), d.Say("pages/when"), d.Say("plans/tries"), d.Say("pages/staff-due"), d.Say("pages/why")}}
	for i, s := range jobStates {
		out.Views = append(out.Views, pages.Link{URL: "/health?" + url.Values{"state": {s.name}}.Encode() + "#jobs", Text: d.Say(s.text), Here: i == at})
	}
	filter := jobStates[at].is
	filter.Limit = jobsPage + 1
	jobs, err := d.Store.Jobs(d.R.Context(), filter)
	if err != nil {
		return out, err
	}
	if len(jobs) > jobsPage {
		jobs, out.More = jobs[:jobsPage], d.Say("pages/staff-more-jobs", strconv.Itoa(jobsPage))
	}
	for i := range jobs {
		j := &jobs[i]
		what := cmp.Or(d.Tell.Label(engine.JobSubject(&j.Job)), j.Kind)
		out.Rows = append(out.Rows, pages.Pick{Value: j.ID, Text: what, Cells: []string{d.Who(j.Principal), d.Time(j.Created), d.Say("dialog/of", strconv.Itoa(j.Attempt), strconv.Itoa(j.Tries())), d.Time(j.At), j.Note}})
	}
	if state := jobStates[at].name; state != "running" && state != "done" {
		out.Buttons = []pages.Button{{Name: "do", Value: "retry", Text: d.Say("pages/staff-retry")}, {Name: "do", Value: "drop", Text: d.Say("pages/staff-drop")}}
	}
	return out, nil
}

// tendJobs tries jobs again or drops them, each by a call of its own. Dropping asks first.
func (d *desk) tendJobs() error {
	verb := map[string]string{"retry": verbRetry, "drop": verbDrop}[d.R.PostForm.Get("do")]
	v := d.Registry.Verb(verb)
	if v == nil || !d.Session.May(v) {
		return d.NotFound()
	}
	var ids []string
	for name := range d.R.PostForm {
		if id, ok := strings.CutPrefix(name, "job "); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if len(ids) == 0 || len(ids) > jobsPage {
		return server.BadBody("no job was selected", "select some first")
	}
	p := d.Frame(d.Say("pages/staff-queue"))
	p.Wide, p.Back = true, &pages.Link{URL: "/health", Text: d.Say("pages/staff-health")}
	if verb == verbDrop && d.R.PostForm.Get("sure") == "" {
		card := pages.Card{ID: "sure", Title: d.Say("pages/staff-drop-all", strconv.Itoa(len(ids))), URL: "/health/jobs", Hidden: []pages.Hidden{{Name: "do", Value: "drop"}},
			Buttons: []pages.Button{{Name: "sure", Value: "1", Text: d.Say("pages/staff-drop")}}, Links: []pages.Link{{URL: "/health", Text: d.Say("pages/back")}}}
		for _, id := range ids {
			card.Hidden = append(card.Hidden, pages.Hidden{Name: "job " + id, Value: "1"})
		}
		p.Main = []pages.Block{card}
		return d.Render(http.StatusOK, p)
	}
	table := pages.Table{ID: "told", Title: d.Say("pages/happened"), Head: []string{d.Say("pages/number"), d.Say("pages/became")}}
	for i, id := range ids {
		became, err := d.tend(v, id)
		if err != nil {
			return err
		}
		table.Rows = append(table.Rows, []pages.Cell{{Text: strconv.Itoa(i + 1)}, {Text: became}})
	}
	p.Main = []pages.Block{table}
	return d.Render(http.StatusOK, p)
}

// tend runs a verb on one job, and tells what became of it.
func (d *desk) tend(v *verbs.Verb, id string) (string, error) {
	ctx := d.R.Context()
	call := dsl.NewCall(v.Name, dsl.NewArg("job", dsl.NewString(id)))
	script, ds := dsl.Parse(dsl.NewSource("page", dsl.FormatCall(&call)))
	program, more := d.Session.Check(ctx, script, engine.CheckOptions{Said: verbs.Literals{Origin: verbs.NewOrigin(verbs.FromPerson, "")}, Parsed: ds})
	if ds = append(ds, more...); ds.HasErrors() {
		return d.Tell.Refused(ds), nil
	}
	o := engine.RunOptions{Source: "page"}
	preview, err := d.Session.Keep(ctx, program, o)
	if err == nil {
		if len(preview.Asks()) > 0 {
			o.Agreed = preview.Answer()
		}
		r, failed := d.Session.Run(ctx, program, o)
		if err = failed; err == nil {
			return strings.TrimSpace(d.Tell.Done(r)), nil
		}
	}
	if refusal, ok := errors.AsType[*engine.Refusal](err); ok {
		return d.Tell.Refused(refusal.Diagnostics), nil
	}
	return "", err
}
