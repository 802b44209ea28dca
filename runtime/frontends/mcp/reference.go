package mcp

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/explain"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Resources and prompts for a client: the reference of the verbs that the caller may use, the codes
// and names for their arguments, and the palettes' rules for conversations about their domains.

// The resources. Each shows only what the caller may use and see.
const (
	referenceURI = "verbatim://reference/" // followed by a domain
	verbURI      = "verbatim://verb/"      // followed by a verb
	codesURI     = "verbatim://codes/"     // followed by a list of codes
	namesURI     = "verbatim://names/"     // and a kind of row
)

var templates = []*sdk.ResourceTemplate{
	{Name: "verb", URITemplate: verbURI + "{verb}", MIMEType: "text/plain", Description: "What a verb takes, what it may change, and who is asked first."},
	{Name: "codes", URITemplate: codesURI + "{list}", MIMEType: "text/plain", Description: "The codes of a list, and what they mean."},
	{Name: "code", URITemplate: codesURI + "{list}/{code}", MIMEType: "text/plain", Description: "What a code of a list means."},
	{Name: "names", URITemplate: namesURI + "{entity}", MIMEType: "text/plain", Description: "What the rows of a kind are called that you can see."},
}

func said(v *verbs.Verb) bool { return !v.Internal }

// domains lists the verbs that a session may use, by domain and in order.
func (d *Door) domains(s *engine.Session) (names []string, of map[string][]*verbs.Verb) {
	of = map[string][]*verbs.Verb{}
	for _, v := range s.Verbs() {
		if said(v) {
			domain := v.Name[:strings.LastIndexByte(v.Name, '.')]
			if of[domain] == nil {
				names = append(names, domain)
			}
			of[domain] = append(of[domain], v)
		}
	}
	return names, of
}

// resources lists the resources of a session.
func (d *Door) resources(s *engine.Session) []*sdk.Resource {
	all := []*sdk.Resource{}
	names, of := d.domains(s)
	for _, domain := range names {
		says := fmt.Sprintf("The reference of its %s.", receipt.Counted(len(of[domain]), "verb"))
		if p := d.Registry.Palette(domain); p != nil && p.Description != "" {
			says = p.Description + " " + says
		}
		all = append(all, &sdk.Resource{Name: domain, URI: referenceURI + domain, MIMEType: "text/plain", Description: says})
	}
	lists, entities := d.spoken(s)
	for _, e := range entities {
		all = append(all, &sdk.Resource{Name: "names of " + e.Store.Name, URI: namesURI + e.Store.Name, MIMEType: "text/plain",
			Description: "What the rows are called that you can see of " + e.Store.Name + "."})
	}
	for _, l := range lists {
		all = append(all, &sdk.Resource{Name: "codes of " + l.Name, URI: codesURI + l.Name, MIMEType: "text/plain", Description: cmp.Or(l.Description, "The codes of "+l.Name+".")})
	}
	return all
}

// spoken lists the codes and entities of the arguments of the verbs that a session may use, and no
// others.
func (d *Door) spoken(s *engine.Session) (lists []*verbs.CodeList, entities []*verbs.Entity) {
	var add func(t *verbs.Type)
	add = func(t *verbs.Type) {
		if t == nil {
			return
		}
		if t.Codes != nil && !slices.Contains(lists, t.Codes) {
			lists = append(lists, t.Codes)
		}
		if t.Entity != nil && !slices.Contains(entities, t.Entity) {
			entities = append(entities, t.Entity)
		}
		add(t.Item)
		for i := range t.Fields {
			add(t.Fields[i].Type)
		}
	}
	for _, v := range s.Verbs() {
		for i := range v.Params {
			if said(v) {
				add(v.Params[i].Type)
			}
		}
	}
	slices.SortFunc(lists, func(a, b *verbs.CodeList) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(entities, func(a, b *verbs.Entity) int { return strings.Compare(a.Store.Name, b.Store.Name) })
	return lists, entities
}

// readResource answers for a resource. One that is not there for the caller is not there.
func (d *Door) readResource(ctx context.Context, _ *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	a := askedOf(ctx)
	res, err := turn(ctx, d, a.caller, func(s *engine.Session) (*sdk.ReadResourceResult, error) {
		text, err := d.resource(ctx, s, a.name)
		if err != nil {
			return nil, err
		}
		if text == "" {
			return nil, sdk.ResourceNotFoundError(a.name)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: a.name, MIMEType: "text/plain", Text: text}}}, nil
	})
	if err != nil {
		return nil, err
	}
	return res.(*sdk.ReadResourceResult), nil
}

// resource returns the text of a resource; "" if there is none.
func (d *Door) resource(ctx context.Context, s *engine.Session, uri string) (string, error) {
	var b strings.Builder
	named := func(prefix string) (string, bool) {
		rest, ok := strings.CutPrefix(uri, prefix)
		name, err := url.PathUnescape(rest)
		return name, ok && err == nil
	}
	explain := func(v *verbs.Verb) error { return explain.Verb(&b, v) }
	if domain, ok := named(referenceURI); ok {
		_, of := d.domains(s)
		for i, v := range of[domain] {
			if i > 0 {
				b.WriteString("\n")
			}
			if err := explain(v); err != nil {
				return "", err
			}
		}
		return b.String(), nil
	}
	if name, ok := named(verbURI); ok {
		if v := d.Registry.Verb(name); v != nil && said(v) && s.May(v) && slices.Contains(s.Verbs(), v) {
			err := explain(v)
			return b.String(), err
		}
		return "", nil
	}
	lists, entities := d.spoken(s)
	if name, ok := named(codesURI); ok {
		name, one, alone := strings.Cut(name, "/")
		for _, c := range codesOf(lists, name) {
			if !alone || c.Name == one {
				fmt.Fprintf(&b, "%s\t%s\n", c.Name, cmp.Or(c.Description, c.Label))
			}
		}
		return b.String(), nil
	}
	if name, ok := named(namesURI); ok {
		i := slices.IndexFunc(entities, func(e *verbs.Entity) bool { return e.Store.Name == name })
		if i < 0 {
			return "", nil
		}
		names, err := s.Names().All(ctx, entities[i:i+1])
		if err != nil {
			return "", err
		}
		for _, name := range names[entities[i]] {
			fmt.Fprintf(&b, "%s\t%s\n", at(name), receipt.Safe(s.Names().Called(name)))
		}
		if b.Len() == 0 {
			b.WriteString("(you see no row of this kind, or they are too many to be listed)\n")
		}
	}
	return b.String(), nil
}

// codesOf returns the codes of a list with a name.
func codesOf(lists []*verbs.CodeList, name string) []verbs.Code {
	for _, l := range lists {
		if l.Name == name {
			return l.Codes
		}
	}
	return nil
}

// at spells a name as calls have it.
func at(name string) string { return "@" + strings.TrimPrefix(name, "@") }

// The arguments of each prompt: the person's wish, and the row that it is about.
var promptArguments = []*sdk.PromptArgument{
	{Name: "wish", Description: "What you want, in your own words."},
	{Name: "about", Description: "The name of the row that it is about, which begins with @."},
}

// prompts lists the conversation prompts of palettes of which the caller may use some verb.
func (d *Door) prompts(s *engine.Session) []*sdk.Prompt {
	all := []*sdk.Prompt{}
	_, of := d.domains(s)
	for _, p := range d.Registry.Palettes() {
		if p.Conversation != nil && len(of[p.Domain]) > 0 {
			all = append(all, &sdk.Prompt{Name: p.Domain, Title: p.Domain, Description: cmp.Or(p.Description, "How "+p.Domain+" is talked about."), Arguments: promptArguments})
		}
	}
	return all
}

// getPrompt returns a palette's conversation prompt: its rules of conduct, and its present context.
func (d *Door) getPrompt(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	a := askedOf(ctx)
	res, err := turn(ctx, d, a.caller, func(s *engine.Session) (*sdk.GetPromptResult, error) {
		i := slices.IndexFunc(d.prompts(s), func(p *sdk.Prompt) bool { return p.Name == a.name })
		if i < 0 {
			return nil, invalid("there is no such prompt")
		}
		for name := range req.Params.Arguments {
			if !slices.ContainsFunc(promptArguments, func(p *sdk.PromptArgument) bool { return p.Name == name }) {
				return nil, invalid("the prompt has no argument of that name")
			}
		}
		p := d.Registry.Palette(a.name)
		var b strings.Builder
		for _, rule := range p.Conversation.Conduct {
			b.WriteString("- " + rule + "\n")
		}
		for _, v := range p.Conversation.Context {
			if !slices.Contains(s.Verbs(), v) {
				continue
			}
			text, err := d.tells(ctx, a.caller, s, v)
			if err != nil {
				return nil, err
			}
			if text != "" {
				b.WriteString("\nWhat " + v.Name + " tells now:\n" + text)
			}
		}
		messages := []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: b.String()}}}
		wish := strings.TrimSpace(req.Params.Arguments["wish"])
		if about := strings.TrimSpace(req.Params.Arguments["about"]); about != "" {
			wish = strings.TrimSpace(wish + "\nIt is about " + about + ".")
		}
		if wish != "" {
			messages = append(messages, &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: wish}})
		}
		return &sdk.GetPromptResult{Description: p.Description, Messages: messages}, nil
	})
	if err != nil {
		return nil, err
	}
	return res.(*sdk.GetPromptResult), nil
}

// tells returns the answer of a read without arguments; "" if it is refused.
func (d *Door) tells(ctx context.Context, c *Caller, s *engine.Session, v *verbs.Verb) (string, error) {
	call := dsl.NewCall(v.Name)
	script, _ := dsl.Parse(dsl.NewSource(Source, dsl.FormatCall(&call)+"\n"))
	program, ds := s.Check(ctx, script, engine.CheckOptions{Said: c.Said})
	if ds.HasErrors() {
		return "", nil
	}
	r, err := s.Run(ctx, program, engine.RunOptions{Source: Source})
	if codeOf(err) != "" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	receipt.PrintCalls(&b, r, receipt.Options{})
	return b.String(), nil
}

// mostCompleted is the greatest number of values that the protocol allows in an answer.
const mostCompleted = 100

// complete lists the completions of an argument of a prompt or of a part of an address. For
// something that does not exist for the caller the list is empty, and there is no error, so that
// nobody can tell the difference.
func (d *Door) complete(ctx context.Context, s *engine.Session, p *sdk.CompleteParams) (*sdk.CompleteResult, error) {
	var all []string
	lists, entities := d.spoken(s)
	names := func() error {
		of, err := s.Names().All(ctx, entities)
		for _, e := range entities {
			for _, name := range of[e] {
				all = append(all, at(name))
			}
		}
		return err
	}
	var err error
	switch {
	case p.Ref.Type == "ref/prompt":
		if p.Argument.Name == "about" && slices.ContainsFunc(d.prompts(s), func(of *sdk.Prompt) bool { return of.Name == p.Ref.Name }) {
			err = names()
		}
	case p.Ref.URI == verbURI+"{verb}" && p.Argument.Name == "verb":
		for _, v := range s.Verbs() {
			if said(v) {
				all = append(all, v.Name)
			}
		}
	case p.Ref.URI == codesURI+"{list}/{code}" && p.Argument.Name == "code" && p.Context != nil:
		for _, c := range codesOf(lists, p.Context.Arguments["list"]) {
			all = append(all, c.Name)
		}
	case (p.Ref.URI == codesURI+"{list}" || p.Ref.URI == codesURI+"{list}/{code}") && p.Argument.Name == "list":
		for _, l := range lists {
			all = append(all, l.Name)
		}
	case p.Ref.URI == namesURI+"{entity}" && p.Argument.Name == "entity":
		for _, e := range entities {
			all = append(all, e.Store.Name)
		}
	}
	if err != nil {
		return nil, err
	}
	typed := strings.TrimPrefix(strings.ToLower(p.Argument.Value), "@")
	all = slices.DeleteFunc(all, func(v string) bool { return !strings.Contains(strings.ToLower(v), typed) })
	slices.SortStableFunc(all, func(a, b string) int { // what begins so comes first
		return cmp.Or(begins(b, typed)-begins(a, typed), strings.Compare(a, b))
	})
	all = slices.Compact(all)
	total := len(all)
	if total > mostCompleted {
		all = all[:mostCompleted]
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: append([]string{}, all...), Total: total, HasMore: total > len(all)}}, nil
}

func begins(v, typed string) int {
	if strings.HasPrefix(strings.TrimPrefix(strings.ToLower(v), "@"), typed) {
		return 1
	}
	return 0
}
