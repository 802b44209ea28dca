package portal

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

// An entry of the journal: how it came about, and the call that takes back what it did. That call runs
// like any other.

// journalEntry shows a journal entry: the call, the changes, and the recorded reasons. It is for
// roles that keep the journal, and for the principal of the entry. Personal data is masked until
// somebody opens it, which is journalled.
func (d *Desk) journalEntry() error {
	ctx := d.R.Context()
	n, err := d.Entry()
	if err != nil {
		return err
	}
	for l, err := range journal.Opened(ctx, d.Store, d.Principal, journal.ByNumber(ctx, d.Store, n, n)) {
		if err != nil {
			return err
		}
		e, opened := &l.Entry, d.R.Method == http.MethodPost
		if e.Principal != d.Principal {
			if err := d.Session.Journal().Reads(ctx); err != nil {
				return err
			}
		}
		record, err := journal.Parse(e.Changes)
		if opened && err == nil {
			if err := d.Session.Journal().Opens(ctx, e); err != nil {
				return err
			}
			record, err = l.Record()
		}
		if err != nil {
			return err
		}
		if !d.Serves() {
			return d.receipt(&l.Entry, record, l.Opening != nil && !opened)
		}
		p := d.Frame(d.Say("pages/entry", strconv.FormatInt(n, 10)))
		p.Wide = true
		p.Back = &pages.Link{URL: d.at(d.page), Text: d.Say("pages/back")}
		if d.Keeps() {
			p.Back = &pages.Link{URL: "/journal", Text: d.Say("pages/journal")}
		}
		card := pages.Card{ID: "entry", Title: d.Say("pages/came-about"), Calls: []string{cmp.Or(record.Words, e.Call, e.Verb)}}
		for i := range record.Rows {
			card.Rows = append(card.Rows, d.diff(&record.Rows[i], "pages/asker-said"))
		}
		who := d.Who(e.Principal) + " (" + e.Principal + ")"
		card.Facts = d.whyDone(e, d.Facts("pages/when", d.Time(e.Time), "pages/who", strings.TrimRight(who+", "+strings.Join(e.Roles, ", "), ", "), "pages/became", e.Outcome+strings.TrimRight(": "+e.Reason, ": "), "pages/source", e.Source))
		if l.Opening != nil && !opened {
			card.URL, card.Buttons = "/journal/"+strconv.FormatInt(n, 10), []pages.Button{{Name: "show", Value: "1", Text: d.Say("pages/show-masked")}}
		}
		p.Main = []pages.Block{card}
		if session, turn, _ := strings.Cut(e.Turn, "/"); session == d.Session.ID() {
			p.Main = append(p.Main, d.turnLink(turn))
		} else if e.Turn != "" && d.Session.Journal().SeesTurns() {
			p.Main = append(p.Main, pages.Prose{ID: "turn", Links: []pages.Link{{URL: "/turns/" + e.Turn, Text: d.Say("pages/turn-title")}}})
		}
		return d.Render(http.StatusOK, p)
	}
	if err := d.Session.Journal().Reads(ctx); err != nil {
		return err // like an entry of somebody else
	}
	return d.NotFound()
}

// turnLink leads to the turn of the conversation that an entry came of.
func (d *Desk) turnLink(turn string) pages.Prose {
	return pages.Prose{ID: "turn", Links: []pages.Link{{URL: "/why?" + url.Values{"turn": {turn}}.Encode(), Text: d.Say("pages/happened")}}}
}

// receipt shows a person who is served what they did, in words: no call, no number and no digest. What
// is personal stands masked until they ask for it.
func (d *Desk) receipt(e *stores.Entry, record journal.Record, masked bool) error {
	p := d.Frame(d.Say("pages/receipt"))
	p.Back = &pages.Link{URL: d.at(d.page), Text: d.Say("pages/back")}
	card := pages.Card{ID: "entry", Title: d.Say("pages/receipt")}
	if verb := d.Registry.Verb(e.Verb); verb != nil {
		card.Title = d.actTitle(verb)
	}
	for i := range record.Rows {
		row := record.Rows[i]
		row.Fields = slices.DeleteFunc(slices.Clone(row.Fields), func(f receipt.Field) bool { // when it was done stands below
			return f.After.Kind() == stores.Time && e.Time.Sub(f.After.Time()).Abs() < 2*time.Second
		})
		if diff := d.diff(&row, "pages/you-said"); len(diff.Fields) > 0 {
			card.Rows = append(card.Rows, diff)
		}
	}
	agreed, _, _ := strings.Cut(e.Agreed, ",")
	if agreed != "" {
		agreed = d.Who(agreed)
	}
	card.Facts = d.Facts("pages/when", d.Time(e.Time), "pages/who", d.Who(e.Principal), "pages/agreed-by", agreed)
	if masked {
		card.URL, card.Buttons = "/journal/"+strconv.FormatInt(e.Seq, 10), []pages.Button{{Name: "show", Value: "1", Text: d.Say("pages/show-masked")}}
	}
	p.Main = []pages.Block{card}
	if session, turn, _ := strings.Cut(e.Turn, "/"); session == d.Session.ID() {
		p.Main = append(p.Main, d.turnLink(turn))
	}
	return d.Render(http.StatusOK, p)
}

// opaque matches what means nothing to people: digests, keys, and references of files.
var opaque = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}|upload://`)
})

// inWords rewrites a line of the record for a person who is served: verbs and rows by what they are
// called. It is "" where something remains that means nothing to them.
func (d *Desk) inWords(line string) string {
	line = symbols().ReplaceAllStringFunc(line, func(name string) string {
		if v := d.Registry.Verb(name); v != nil {
			return "“" + d.Tell.Verb(v) + "”"
		}
		if name[0] == '@' {
			return d.Tell.Value(stores.NewString(name))
		}
		return name
	})
	if opaque().MatchString(line) || calls().MatchString(line) {
		return ""
	}
	return line
}

var (
	symbols = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`@[\pL\d~-]+|\b[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)+`)
	})
	calls = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` :[a-z][a-z0-9-]* |\b[a-z0-9-]+\.[a-z][a-z0-9-]*\b`) })
)

// Facts makes facts from keys and texts in turn, without those whose text is "".
func (d *Desk) Facts(of ...string) (all []pages.Fact) {
	for i := 0; i < len(of); i += 2 {
		if of[i+1] != "" {
			all = append(all, pages.Fact{Name: values.Key(of[i]).In(d.lang), Text: of[i+1]})
		}
	}
	return all
}

// whyDone adds why an entry came about: where its arguments came from, the rules that
// asked, who agreed, and the turn of the conversation that it came of.
func (d *Desk) whyDone(e *stores.Entry, all []pages.Fact) []pages.Fact {
	var from map[string]string
	if json.Unmarshal([]byte(e.Origins), &from) == nil {
		for _, name := range slices.Sorted(maps.Keys(from)) {
			all = append(all, d.Facts("pages/value-from", d.Tell.Label(strings.TrimSuffix(name, "-id"))+": "+from[name])...)
		}
	}
	if verb := d.Registry.Verb(e.Verb); verb != nil && e.Preview != "" && e.Palette == d.Registry.Digest() {
		for i := range verb.Confirm {
			all = append(all, d.Facts("pages/rule", pages.Sentence(d.Tell.Text(verb.Confirm[i].Reason))+" ("+path.Base(verb.Confirm[i].Place.String())+")")...)
		}
	}
	agreed := e.Agreed
	if name, rest, _ := strings.Cut(agreed, ","); agreed != "" {
		agreed = strings.TrimRight(d.Who(name)+","+rest, ",")
	}
	return append(all, d.Facts("pages/agreed-by", agreed, "pages/preview", e.Preview, "pages/turn", e.Turn, "pages/palette", e.Palette[:min(12, len(e.Palette))])...)
}

// why shows how an answer of the conversation came about, from the recorded turn: the last one, or
// the one whose number is given.
func (d *Desk) why() error {
	ctx := d.R.Context()
	info, err := d.Session.Turns().Info(ctx)
	if err != nil {
		return err
	}
	from, last := max(1, info.Turns-mostTurns), info.Turns
	only, _ := strconv.ParseInt(d.R.URL.Query().Get("turn"), 10, 64)
	if only > 0 {
		from, last = only, only+mostTurns
	}
	turns, err := d.Session.Turns().Between(ctx, from, last)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(turns, func(t sessions.Turn) bool { return t.Role == sessions.Client && t.Number > only }); only > 0 && i >= 0 {
		turns = turns[:i]
	}
	var turn pages.Turn
	var said int64
	for i := range turns {
		t := &turns[i]
		at := values.SayTime(t.Time, d.Zone()) + " "
		switch {
		case t.Erased:
		case t.Intent == sessions.WhyIntent:
			turn.Why = nil
			for line := range strings.SplitSeq(strings.TrimSpace(t.Content), "\n") {
				// Each line is a name, two blanks, and a text.
				name, text, ok := strings.Cut(strings.TrimSpace(line), "  ")
				if !ok {
					name, text, _ = strings.Cut(strings.TrimSpace(line), " ")
				}
				if text = strings.TrimSpace(text); !d.Serves() {
					text = d.inWords(text)
				}
				if text != "" {
					turn.Why = append(turn.Why, pages.Fact{Name: pages.Sentence(name), Text: text})
				}
			}
		case t.Role == sessions.Client:
			turn.Happened, said = []string{at + d.Say("pages/you") + ": " + t.Content}, t.Number
		default:
			turn.Happened = append(turn.Happened, at+d.Say("pages/assistant")+": "+shown(t.Content))
			if t.Action != "" && d.Serves() {
				turn.Happened = append(turn.Happened, at+t.Action)
			}
		}
	}
	if d.Serves() {
		turn.Why = append(turn.Why, d.Facts("pages/turn", sessions.TurnID(d.Session.ID(), said))...)
	}
	p := d.Frame(d.Say("pages/how-it-came"))
	p.Wide = true
	p.Back = &pages.Link{URL: d.at(d.page), Text: d.Say("pages/back")}
	p.Main = []pages.Block{turn}
	if len(turn.Happened) == 0 {
		p.Main = []pages.Block{pages.Prose{ID: "none", Lines: []string{d.Say("pages/no-messages")}}}
	}
	return d.Render(http.StatusOK, p)
}

// undoPage shows what taking it back would change, and asks for agreement, or says why it cannot be
// taken back.
func (d *Desk) undoPage() error {
	err := d.undoes()
	if refusal, ok := errors.AsType[*engine.Refusal](err); ok {
		p := d.Frame(d.Say("pages/take-back"))
		p.Back = &pages.Link{URL: d.at(d.page), Text: d.Say("pages/back")}
		p.Banners = append(p.Banners, pages.Banner{Tone: "warn", Text: d.Tell.Refused(refusal.Diagnostics)})
		return d.Render(http.StatusUnprocessableEntity, p)
	}
	return err
}

func (d *Desk) undoes() error {
	ctx := d.R.Context()
	seq, err := d.Entry()
	if err != nil {
		return err
	}
	script, err := d.Session.Journal().Undo(ctx, seq)
	if err != nil {
		return err
	}
	call := &script.Calls[0]
	values := url.Values{}
	for _, a := range call.Args {
		values.Set(a.Key, a.Value.Text)
	}
	verb := d.Registry.Verb(call.Verb)
	if verb.Undoes == nil {
		return d.See("/do/" + call.Verb + "?" + values.Encode()) // the form of that verb, filled in
	}
	program, err := d.program(ctx, dsl.Format(script), theirs)
	if err != nil {
		return err
	}
	values.Set("key", logins.Secret())
	preview, err := d.Session.Keep(ctx, program, engine.RunOptions{Source: "page"})
	if err != nil {
		return err
	}
	f := d.fill(verb, values)
	card := pages.Card{ID: "ask", Title: d.Say("pages/shall-i"), Rows: d.Diffs(preview, "pages/you-said"), URL: "/do/" + verb.Name,
		Hidden:  append(f.hidden(), pages.Hidden{Name: "agreed", Value: preview.Answer()}),
		Buttons: []pages.Button{{Name: "yes", Value: "1", Text: d.Say("pages/take-back"), Tone: "main"}, {Name: "no", Value: "1", Text: d.Say("pages/do-not")}}}
	if slices.ContainsFunc(preview.Asks(), func(a receipt.Ask) bool { return a.By != "" }) {
		card.Buttons[0].Text = d.Say("pages/ask-for-it")
	}
	card.Lines = []string{d.Tell.Verb(verb) + "."}
	if r := preview.Calls[0].Result; r != nil {
		for _, row := range r.Rows {
			card.Notes = append(card.Notes, pages.Banner{Tone: "warn", Text: d.Say("dialog/stays", row[0].Text())})
		}
	}
	p := d.Frame(d.Say("pages/take-back"))
	p.Main = []pages.Block{card}
	return d.Render(http.StatusOK, p)
}
