package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/a2a"
	"verbatim/runtime/frontends/http/a2a/peers"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/verbs"
)

// The texts of the program's mails.
const (
	saySignIn   values.Key = "serve/sign-in"
	saySignInBy values.Key = "serve/sign-in-by"
	sayAsked    values.Key = "serve/asked"
	sayAskedBy  values.Key = "serve/asked-by"
)

// signInLetter writes the mail of a notice that asks for a sign-in link.
func (a *app) signInLetter(ctx context.Context, store stores.Store, m engine.Message) (notify.Letter, error) {
	to, language, link, err := server.SignInLink(ctx, &logins.Book{Store: store, Clock: a.now}, m)
	if errors.Is(err, logins.ErrOver) {
		return notify.Letter{}, &notify.Error{Code: "expired", Text: "the link was asked for too long ago", Permanent: true}
	}
	l := reads(language)
	return notify.Letter{ID: m.ID, To: to, Subject: saySignIn.In(l), Text: saySignInBy.In(l, link)}, err
}

func reads(language string) values.Language {
	if l, ok := values.ParseLanguage(language); ok {
		return l
	}
	return values.English
}

// sending sends notices. One that asks for a sign-in link goes out as a mail. A notice that an agreement is needed goes out as a mail with a link to its
// page, unless a route says otherwise. The link alone gives no access.
func (a *app) sending(reg *verbs.Registry, store stores.Store, channels *notify.Sender, url string) func(context.Context, engine.Message) error {
	if channels == nil {
		return nil
	}
	return func(ctx context.Context, m engine.Message) error {
		if m.Target == server.TargetSignIn {
			letter, err := a.signInLetter(ctx, store, m)
			if err == nil {
				err = channels.Letter(ctx, letter)
			}
			return err
		}
		if m.Target != engine.TargetAgreement || !channels.Writes() || slices.Contains(channels.Targets(), m.Target) {
			return channels.Send(ctx, m)
		}
		letter, err := askedLetter(ctx, store, &m, url, func(name string) (address, language string, err error) {
			return rights.AddressOf(ctx, reg, store, name)
		})
		if err != nil {
			return err
		}
		return channels.Letter(ctx, letter)
	}
}

// askedLetter writes the mail of a notice that an agreement is needed. It is an error if the
// agreement is not waited for any more.
func askedLetter(ctx context.Context, store stores.Store, m *engine.Message, url string, addressOf func(name string) (address, language string, err error)) (l notify.Letter, err error) {
	var body struct{ Asker, Confirmation, To string }
	if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
		return l, &notify.Error{Code: "unreadable-payload", Text: "it names nobody", Permanent: true}
	}
	var waiting []*confirmations.Confirmation
	err = store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
		waiting, err = confirmations.Find(ctx, r, map[int]stores.Value{confirmations.FieldID: stores.NewString(body.Confirmation), confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
		return err
	})
	if err == nil && len(waiting) == 0 {
		return l, &notify.Error{Code: "settled", Text: "what was to be agreed to does not wait any more", Permanent: true}
	}
	address, language, failed := addressOf(body.To)
	switch err = cmp.Or(err, failed); {
	case err != nil:
		return l, fmt.Errorf("the address of somebody could not be read: %w", err)
	case address == "":
		return l, &notify.Error{Code: notify.CodeNoRoute, Text: "whoever it is for has no address any more", Permanent: true}
	}
	where := body.Confirmation
	if url != "" {
		where = strings.TrimRight(url, "/") + "/waiting/" + where
	}
	in := reads(language)
	return notify.Letter{ID: m.ID, To: address, Subject: sayAsked.In(in), Text: sayAskedBy.In(in, body.Asker, where)}, nil
}

// posts reads VERBATIM_A2A_PUSH, which says to which addresses push notifications may be sent:
// private, off, or unset.
func (a *app) posts() (a2a.Posts, error) {
	switch how := a.env("VERBATIM_A2A_PUSH"); how {
	case "":
		return a2a.PostPublic, nil
	case "private":
		return a2a.PostPrivate, nil
	case "off":
		return a2a.PostNone, nil
	default:
		return 0, usage(fmt.Sprintf("VERBATIM_A2A_PUSH is private or off, not %q", how), "leave it out, and notifications go to the public internet alone")
	}
}

// posting sends push notifications to other agents, if a palette has tasks, and passes other
// notices to send, which may be nil.
func (a *app) posting(reg *verbs.Registry, store stores.Store, clock func() time.Time, posts a2a.Posts, send func(context.Context, engine.Message) error) func(context.Context, engine.Message) error {
	if len(reg.Tasks()) == 0 || posts == a2a.PostNone {
		return send
	}
	book := &peers.Book{Store: store, Clock: clock}
	poster := notify.NewPoster(posts == a2a.PostPrivate)
	return func(ctx context.Context, m engine.Message) error {
		if m.Target != a2a.TargetPush {
			if send == nil {
				return &notify.Error{Code: notify.CodeNoRoute, Text: fmt.Sprintf("nothing says where notices to %s go", m.Target)}
			}
			return send(ctx, m)
		}
		p, err := a2a.PostingOf(ctx, book, m)
		if err != nil {
			return fmt.Errorf("where an agent is told could not be read: %w", err)
		}
		if p == nil {
			return &notify.Error{Code: notify.CodeNoRoute, Text: "the agent wants to be told no more", Permanent: true}
		}
		return poster.Post(ctx, p.ID, p.URL, p.Headers, p.Body)
	}
}
