package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/stores/receipt"
)

// A question is put to the person: by the client where it asks people, or on a page.
type question struct {
	text    string
	choices []choice // each a box to tick; the first is what "yes" means
}

// A choice is a box to tick.
type choice struct{ Name, Title, Says string }

// errNobody says why nobody could be asked.
type nobody struct{ why string }

func (n *nobody) Error() string { return n.why }

// patience is how long a question may be answered.
const patience = 10 * time.Minute

// puts puts a question, and returns the boxes that the person ticked; nil means no. The error is a
// *nobody if nobody can be asked, or that of ctx.
func (s *session) puts(ctx context.Context, q *question) (ticked map[string]bool, how string, err error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if s.Ask != AskPage && s.elicits() {
		ticked, err = s.elicit(ctx, q)
		return ticked, "asked by " + s.name, err
	}
	if s.Show == nil {
		why := "this client does not ask its person, and no page can be shown here"
		if s.Ask == AskPage {
			why = "no page can be shown here"
		}
		return nil, "", &nobody{why}
	}
	ticked, err = s.page.put(ctx, s.Guard, q)
	return ticked, "asked on a page", err
}

// elicit asks by the client. Its answer counts once.
func (s *session) elicit(ctx context.Context, q *question) (map[string]bool, error) {
	boxes := map[string]any{}
	for _, c := range q.choices {
		boxes[c.Name] = map[string]any{"type": "boolean", "title": c.Title, "description": c.Says, "default": false}
	}
	params, _ := json.Marshal(map[string]any{"message": q.text,
		"requestedSchema": map[string]any{"type": "object", "properties": boxes, "required": []string{q.choices[0].Name}}})
	got := make(chan *message, 1)
	id, err := s.asksClient("elicitation/create", params, func(m *message) { got <- m })
	if err != nil {
		return nil, err
	}
	select {
	case m := <-got:
		var a struct {
			Action  string
			Content map[string]json.RawMessage
		}
		if m == nil || m.Error != nil {
			return nil, &nobody{"the client did not ask its person"}
		}
		_ = json.Unmarshal(m.Result, &a)
		if a.Action == "cancel" {
			return nil, context.Canceled
		}
		ticked := map[string]bool{}
		for name, raw := range a.Content {
			ticked[name] = string(raw) == "true"
		}
		if a.Action != "accept" || !ticked[q.choices[0].Name] {
			return nil, nil
		}
		return ticked, nil
	case <-ctx.Done():
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
		params, _ := json.Marshal(map[string]any{"requestId": id, "reason": "nobody waits for the answer any more"})
		_ = s.client.write(&message{Method: "notifications/cancelled", Params: params})
		return nil, ctx.Err()
	}
}

// agrees asks about a call, and answers it if nobody agreed.
func (s *session) agrees(ctx context.Context, c *call, why string, hour bool) bool {
	bounds := boundsOf(c.leaves)
	free := freeTexts(c.tool, c.leaves, bounds)
	q := &question{text: c.words(why), choices: []choice{{"agree", "Do it", "Yes: send exactly this, once. No: send nothing."}}}
	if hour {
		var within []string
		for _, path := range slices.Sorted(maps.Keys(bounds)) {
			within = append(within, safe(path)+" "+safe(bounds[path].String()))
		}
		says := "Do not ask about this tool for an hour"
		if len(within) > 0 {
			says += ", as long as " + strings.Join(within, ", ")
		}
		q.choices = append(q.choices, choice{"hour", "And for an hour", says + "."})
		if len(free) > 0 {
			q.choices = append(q.choices, choice{"text", "With any text", "Within that hour, any text in " + strings.Join(free, ", ") + "; all else stays in its bounds."})
		}
	}
	ticked, how, err := s.puts(ctx, q)
	var none *nobody
	switch {
	case errors.As(err, &none):
		s.says("%s.%s was not called, since nobody could be asked: %s. A rule in %s can let it pass", c.u.Name, c.tool, none.why, s.State.Path("guard.yaml"))
		s.refuses(c, outcomeRefused, "nobody-asked", fmt.Sprintf("A person has to agree to this, and nobody could be asked: %s. Nothing was called. "+
			"A client that asks its person (elicitation) helps, or a browser on this machine.", none.why))
		return false
	case ctx.Err() != nil:
		s.ended(c.m.ID)
		return false
	case err != nil:
		s.refuses(c, outcomeRefused, "unanswered", "Nobody answered the question about this call. Nothing was called; call again to ask again.")
		return false
	case ticked == nil:
		s.refuses(c, outcomeDeclined, "declined", "The person did not agree. Nothing was called; ask them what they want instead.")
		return false
	}
	c.agreed = s.Who + ", " + how
	if ticked["hour"] && len(q.choices) > 1 {
		says, texts := q.choices[1].Says, map[string]bool{}
		for _, l := range c.leaves {
			texts[l.path] = l.isText
		}
		if ticked["text"] && len(free) > 0 {
			says += " " + q.choices[2].Says
			for _, path := range free {
				bounds[path] = Bound{any: true}
			}
		}
		s.mu.Lock()
		s.standing = append(s.standing, standing{c.u.Name, c.tool, c.pin(), bounds, texts, s.Clock().Add(time.Hour)})
		s.mu.Unlock()
		_ = s.log.later(s.agreement(verbAgree, c.u.Name, c.tool+" for an hour: "+says, outcomeOK))
	}
	return true
}

// mostShown is the greatest length of an argument that is shown whole.
const mostShown = 20_000

// words is the question about a call: the arguments as they will be sent, each with its origin.
func (c *call) words(why string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s wants to call %s of %s.\n", named(c.session.name), plainly(c.tool), plainly(c.u.Name))
	if len(c.leaves) == 0 {
		b.WriteString("\nIt sends no arguments.\n")
	}
	for i, l := range c.leaves {
		from := "from the client"
		if all := c.origins[i].from; all != nil {
			from = "FROM " + listed(all)
		}
		fmt.Fprintf(&b, "\n%s  [%s]\n", safe(l.path), from)
		mark := "  "
		if old := c.replaced(l.path); old != nil {
			shows(&b, "- ", *old)
			mark = "+ "
		}
		shows(&b, mark, l)
	}
	for _, o := range c.origins[len(c.leaves):] {
		if o.from != nil {
			fmt.Fprintf(&b, "\nThe name of %s came FROM %s.\n", safe(o.path), listed(o.from))
		}
	}
	if p := c.before; p != nil {
		switch p.status {
		case outcomeOK:
			fmt.Fprintf(&b, "\nThe same was done at %s (entry %d).\n", stamp(p.at), p.entry)
		case outcomeFailed:
			fmt.Fprintf(&b, "\nThe same was sent at %s, and the server said that it failed (entry %d).\n", stamp(p.at), p.entry)
		default:
			fmt.Fprintf(&b, "\nThe same was sent at %s, and NOBODY KNOWS whether it was done (entry %d). A yes sends it again.\n", stamp(p.at), p.entry)
		}
	}
	fmt.Fprintf(&b, "\nYou are asked because %s.", why)
	if unfixed := Unfixed(c.u.Command); unfixed != "" {
		fmt.Fprintf(&b, " %s runs in whatever version is newest.", safe(unfixed))
	}
	return b.String()
}

// listed names sources.
func listed(all []*source) string {
	var names []string
	for _, f := range all {
		names = append(names, f.String())
	}
	return strings.Join(names, " and ")
}

// named writes what a client calls itself, in one line.
func named(client string) string {
	if r := []rune(client); len(r) > 60 {
		return safe(string(r[:60])) + fmt.Sprintf("… (%d letters)", len(r))
	}
	return safe(client)
}

// safe writes a text so that each of its characters is seen: what has no sign of its own is spelt out.
func safe(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return receipt.Safe(b.String())
}

// safeLines is safe for a text of several lines.
func safeLines(text string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = safe(all[i])
	}
	return strings.Join(all, "\n")
}

// shows writes a value so that nothing in it hides: how much of it is not shown stands before it, blanks
// that one would not see are counted, and a text that could be taken for another value, or for nothing,
// stands in quotes.
func shows(b *strings.Builder, mark string, l leaf) {
	text := l.text
	if end := strings.TrimSpace(text); l.isText && len(text) <= 64 && (end == "" || json.Valid([]byte(end))) {
		fmt.Fprintf(b, "%s%s\n", mark, safe(strconv.Quote(text)))
		return
	}
	if len(text) > mostShown {
		whole, n := text, mostShown
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
		fmt.Fprintf(b, "%s(ONLY THE BEGINNING IS SHOWN: %s more are sent; SHA-256 of the whole is %x)\n", mark, receipt.Counted(len(whole)-len(text), "byte"), digestOf(whole))
	}
	empty := 0
	ends := func() {
		if empty > 2 {
			fmt.Fprintf(b, "%s(%d empty lines)\n", mark, empty)
		} else {
			b.WriteString(strings.Repeat(mark+"\n", empty))
		}
		empty = 0
	}
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimRight(line, "\n")
		bare := strings.TrimRightFunc(line, unicode.IsSpace)
		if bare == "" {
			empty++
			continue
		}
		ends()
		b.WriteString(mark + safe(blanks().ReplaceAllStringFunc(bare, func(gap string) string {
			return fmt.Sprintf(" (%d blanks) ", utf8.RuneCountInString(gap))
		})))
		if n := utf8.RuneCountInString(line[len(bare):]); n > 0 {
			fmt.Fprintf(b, " (%d blanks at the end)", n)
		}
		b.WriteString("\n")
	}
	ends()
}

var blanks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\pZ{12,}`) })

// plainly writes a name, and marks letters that look like others.
func plainly(name string) string {
	var odd []string
	for _, r := range name {
		if r > 126 {
			odd = append(odd, fmt.Sprintf("%U", r))
		}
	}
	if name = safe(name); len(odd) > 0 {
		name += " (LOOK: not all plain letters, " + strings.Join(odd[:min(len(odd), 5)], " ") + ")"
	}
	return name
}

// replacements are the names of the two texts where one replaces the other.
var replacements = [][2]string{{"oldText", "newText"}, {"old_text", "new_text"}, {"old_string", "new_string"}, {"oldString", "newString"},
	{"old_str", "new_str"}, {"old", "new"}, {"before", "after"}, {"search", "replace"}, {"find", "replace"}}

// replaced returns the text that the text at a path replaces, nil if it replaces none.
func (c *call) replaced(path string) *leaf {
	at := strings.LastIndexByte(path, '.') + 1
	for _, r := range replacements {
		if path[at:] != r[1] {
			continue
		}
		for i := range c.leaves {
			if c.leaves[i].path == path[:at]+r[0] {
				return &c.leaves[i]
			}
		}
	}
	return nil
}

// admits asks whether a server may be used that was given the name of another one, and answers the call
// if not.
func (s *session) admits(ctx context.Context, c *call) bool {
	u := c.u
	u.offering.Lock() // others that call meanwhile wait for the answer
	defer u.offering.Unlock()
	u.mu.Lock()
	p := u.pin
	u.mu.Unlock()
	if p == nil || p.Server.Like == "" || p.As != "" {
		return true
	}
	var ticked map[string]bool
	if !s.asked(u.Name + " is new") {
		pins, _ := s.State.pins()
		was, is := Server{}, p.Server
		if known := pins[is.Like]; known != nil {
			was = known.Server
		}
		like := is.Like
		was.Name, was.Like, is.Name, is.Like = "", "", "", ""
		old, _ := json.Marshal(was)
		new, _ := json.Marshal(is)
		q := &question{fmt.Sprintf("%s wants to call %s of a server that is called %s, and runs something else than the %s that you know:\n\n%s\nIt is a new server, called %s from now on: nothing that you agreed to for %s holds for it.",
			named(s.name), plainly(c.tool), like, like, difference(old, new), u.Name, like), []choice{
			{"agree", "Use it", "Yes: use it, as a new server. No: nothing is sent to it."},
			{"rules", "With my rules", "What guard.yaml lets pass for " + like + " passes for it as well."}}}
		ticked, _, _ = s.puts(ctx, q)
	}
	if ticked == nil {
		s.refuses(c, outcomeRefused, "new-server", fmt.Sprintf("%s runs something else than the server that the person knows as %s, and they have not said that it may be used. Nothing was called.", u.Name, u.Like))
		return false
	}
	as := "-"
	if ticked["rules"] {
		as = u.Like
	}
	_ = s.log.later(s.agreement(verbAgree, u.Name, "it is used, with the rules of "+as, outcomeOK))
	u.keeps(func(p *pin) { p.As = as })
	return true
}

// asked reports whether something was asked in this session before, and notes that it is asked now.
func (s *session) asked(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.offered[what]
	if s.offered == nil {
		s.offered = map[string]bool{}
	}
	s.offered[what] = true
	return before
}

// keeps changes what is known of a server, unless another has taken its name.
func (u *upstream) keeps(fn func(*pin)) {
	is := u.record()
	changed, err := u.session.State.changes(u.Name, func(p *pin) *pin {
		if p == nil || !p.Server.same(is) {
			return nil
		}
		fn(p)
		return p
	})
	if err != nil || changed == nil {
		u.session.says("the answer cannot be kept: %v", err)
		return
	}
	u.mu.Lock()
	u.pin = changed
	u.mu.Unlock()
}

// besides are the capabilities of a server whose requests are each like a tool that only reads.
func (u *upstream) besides() (all []string) {
	for _, name := range []string{"resources", "prompts", "completions", "logging"} {
		if member(u.hello, "capabilities", name) != nil {
			all = append(all, name)
		}
	}
	return all
}

// offers asks once, at a server's first call, whether the tools may pass that say that they only read,
// and what is asked of it besides. Unanswered, all are asked about.
func (s *session) offers(ctx context.Context, u *upstream) {
	u.offering.Lock()
	defer u.offering.Unlock()
	u.mu.Lock()
	tools, p, besides := u.tools, u.pin, u.besides()
	u.mu.Unlock()
	reading := []string{}
	for _, t := range tools {
		if t.reads && !t.changed {
			reading = append(reading, t.name)
		}
	}
	if p == nil || p.Reads != nil || len(reading)+len(besides) == 0 || s.asked(u.Name) {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s says that %d of its %s only read:\n\n", safe(u.Name), len(reading), receipt.Counted(len(tools), "tool"))
	for _, name := range reading {
		b.WriteString("  " + plainly(name) + "\n")
	}
	if len(besides) > 0 {
		b.WriteString("\nBesides it has " + strings.Join(besides, ", ") + ", which are there to be read.\n")
	}
	b.WriteString("\nLet them pass without a question, as long as they say the same of themselves? It is only the server's word. All other tools are asked about each time.")
	if unfixed := Unfixed(u.Command); unfixed != "" {
		fmt.Fprintf(&b, "\n\nIt runs %s, of whatever version is newest: its author can change what it does at any time.", safe(unfixed))
	}
	ticked, _, err := s.puts(ctx, &question{b.String(), []choice{{"agree", "Let them pass", "Yes: reading is not asked about. No: every call is."}}})
	if err != nil {
		return
	}
	outcome := outcomeOK
	if ticked == nil {
		reading, outcome = []string{}, outcomeDeclined
	}
	_ = s.log.later(s.agreement(verbAgree, u.Name, "what says that it only reads: "+strings.Join(slices.Concat(reading, besides), ", "), outcome))
	u.keeps(func(p *pin) { p.Reads, p.Besides = reading, ticked != nil && len(besides) > 0 })
}

// acceptsChange asks whether what a tool says of itself now is accepted, and answers the call if not.
func (s *session) acceptsChange(ctx context.Context, c *call, t *tool) bool {
	c.u.mu.Lock()
	var others []string
	for _, other := range c.u.tools {
		if other.changed && other.name != t.name {
			others = append(others, other.name)
		}
	}
	c.u.mu.Unlock()
	var b strings.Builder
	says := "which says something else of itself than what was accepted. It may have been replaced."
	if t.pin == nil {
		says = "a new tool, which the server did not have when it was accepted."
	}
	fmt.Fprintf(&b, "%s wants to call %s of %s, %s\n", named(s.name), plainly(t.name), plainly(c.u.Name), says)
	b.WriteString(difference(t.pin, t.now))
	q := &question{b.String(), []choice{{"agree", "Accept it", "Yes: this description counts from now on; the call is asked about afterwards. No: the tool is not used."}}}
	if len(others) > 0 {
		q.choices = append(q.choices, choice{"all", "Accept all that changed", "Also accept: " + safe(strings.Join(others, ", ")) + "."})
	}
	ticked, _, err := s.puts(ctx, q)
	if err != nil || ticked == nil {
		if ctx.Err() != nil {
			s.ended(c.m.ID)
			return false
		}
		s.refuses(c, outcomeRefused, "changed", fmt.Sprintf("%s says something else of itself than what was accepted, and nobody has accepted that. Nothing was called; other tools go on.", t.name))
		return false
	}
	accepted := []string{t.name}
	if ticked["all"] {
		accepted = append(accepted, others...)
	}
	_, err = s.State.changes(c.u.Name, func(p *pin) *pin {
		// What was shown is accepted, and not what another guard has been told meanwhile.
		p.Offered = map[string]json.RawMessage{}
		c.u.mu.Lock()
		defer c.u.mu.Unlock()
		for _, o := range c.u.tools {
			if slices.Contains(accepted, o.name) {
				p.Offered[o.name] = canonical(o.now)
			}
		}
		p.accept()
		return p
	})
	if err == nil {
		err = c.u.again(s.ctx)
	}
	if err != nil {
		s.refuses(c, outcomeRefused, "store", s.unread(err))
		return false
	}
	_ = s.log.later(s.agreement(VerbAccept, c.u.Name, strings.Join(accepted, ", "), outcomeOK))
	return true
}

// difference writes two descriptions line by line, the accepted one with - and the present one with +.
func difference(was, now json.RawMessage) string {
	old, new := described(was), described(now)
	var b strings.Builder
	for _, l := range old {
		if !slices.Contains(new, l) {
			b.WriteString("- " + l + "\n")
		}
	}
	for _, l := range new {
		if !slices.Contains(old, l) {
			b.WriteString("+ " + l + "\n")
		}
	}
	return b.String()
}

// described returns what a tool says of itself, a value a line.
func described(raw json.RawMessage) (lines []string) {
	all, _ := parts(raw)
	for _, l := range all {
		for line := range strings.Lines(l.text + "\n") {
			lines = append(lines, safe(l.path)+": "+safe(strings.TrimRight(line, "\n")))
		}
	}
	return lines
}
