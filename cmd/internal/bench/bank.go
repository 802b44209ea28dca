package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// The bank is what the goals on databases are measured on: clients who answer
// requests, whose rows lie three references below what a client holds. The
// write changes a request, adds a reminder and a line of the journal.
const bankPalette = `domain: bank
description: Clients who answer requests.
roles:
  - {name: client, description: Whoever answers.}
codes:
  - {name: request-status, description: How far it is., values: [PENDING, FULFILLED]}
entities:
  cbu:
    description: What a client holds.
    table: bank.cbus
    key: cbu_id
    managed: true
    scope: self
    label: "{name}"
    fields:
      name: {type: string, required: true}
  case:
    description: Why there are requests.
    table: bank.cases
    key: case_id
    managed: true
    scope: cbu
    label: "{name}"
    fields:
      name: {type: string, required: true}
      cbu:  {type: ref, ref-type: cbu, required: true}
  workstream:
    description: A part of a case.
    table: bank.workstreams
    key: workstream_id
    managed: true
    scope: case.cbu
    label: "{name}"
    fields:
      name: {type: string, required: true}
      case: {type: ref, ref-type: case, required: true}
  request:
    description: Something that is wanted of a client.
    table: bank.requests
    key: request_id
    managed: true
    scope: workstream.case.cbu
    label: "{name}"
    fields:
      name:       {type: string, required: true}
      workstream: {type: ref, ref-type: workstream, required: true}
      status:     {type: code, ref-type: request-status, required: true, default: PENDING}
      due_date:   {type: date}
      notes:      {type: string}
      updated_at: {type: datetime}
  reminder:
    description: To ask again.
    table: bank.reminders
    key: reminder_id
    managed: true
    scope: request.workstream.case.cbu
    label: "{commitment}"
    fields:
      request:    {type: ref, ref-type: request, required: true}
      commitment: {type: string, required: true}
      remind_on:  {type: date, required: true}
      created_at: {type: datetime, required: true}
verbs:
  - verb: add-note
    description: Leave a note on a request, and say when something is expected.
    roles: [client]
    args:
      - {name: request-id, type: ref, ref-type: request, required: true, description: the request}
      - {name: note, type: string, required: true, max-length: 2000}
      - {name: expected-date, type: date, required: true}
    effects:
      - updates: request
        where: request-id
        set: {notes: note, updated_at: now}
      - creates: reminder
        set: {request: request-id, commitment: note, remind_on: expected_date + days(1), created_at: now}
  - verb: list-requests
    description: What is still wanted.
    roles: [client]
    reads:
      entity: request
      where: row.status != FULFILLED
      order: [due_date]
      limit: 100
      fields:
        request_id: request_id
        name: name
        due_date: due_date
        status: status
        part: workstream.name
`

const (
	clients   = 8    // who work at once, each on rows of their own
	many      = 32   // who are at work where many write
	busy      = many // the number of one more, who has many rows
	theirRows = 10   // requests of each of them
	manyRows  = 1000 // requests of the one more, for scripts
)

// bankKey is the key of row n of a kind of row.
func bankKey(kind, n int) stores.Value {
	v, _ := stores.ParseUUID(fmt.Sprintf("%08d-0000-4000-8000-%012x", kind, n))
	return v
}

// Kinds of rows.
const (
	aCBU = iota + 1
	aCase
	aWorkstream
	aRequest
)

// A bank is a store that holds the rows, and who is at work on it.
type bank struct {
	store    stores.Store
	reg      *verbs.Registry
	sessions []*engine.Session // one for each client, and one who has many rows
}

// notes numbers the notes: none is left twice, or it would change nothing.
var notes atomic.Int64

// openBank fills an empty store and opens the sessions.
func openBank(store stores.Store) (*bank, error) {
	ctx := context.Background()
	reg, ds := load.Sources(dsl.NewSource("bank.yaml", bankPalette))
	if ds.HasErrors() {
		return nil, fmt.Errorf("the palette of the bank does not load: %v", ds)
	}
	var entities []*stores.Entity
	for _, e := range reg.Entities() {
		entities = append(entities, e.Store)
	}
	plan, err := store.Migrate(ctx, entities, true)
	if err != nil {
		return nil, err
	}
	if len(plan.Problems) > 0 {
		return nil, fmt.Errorf("the store cannot be prepared: %v", plan.Problems)
	}
	err = store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: bankRows(reg)})
	})
	if err != nil {
		return nil, err
	}
	for i := range busy + 1 {
		p := stores.Principal{Name: client(i), Roles: []string{"client"}, Holds: map[string][]stores.Value{"cbu": {bankKey(aCBU, i)}}}
		if err := store.SetPrincipal(ctx, p); err != nil {
			return nil, err
		}
	}
	return enterBank(store, reg)
}

func client(i int) string { return fmt.Sprint("client", i) }

// enterBank opens the sessions on a store that is filled already.
func enterBank(store stores.Store, reg *verbs.Registry) (*bank, error) {
	e, err := engine.New(reg, store, engine.Options{})
	if err != nil {
		return nil, err
	}
	b := &bank{store: store, reg: reg}
	for i := range busy + 1 {
		s, err := e.Session(context.Background(), client(i))
		if err != nil {
			return nil, err
		}
		b.sessions = append(b.sessions, s)
	}
	return b, nil
}

func bankRows(reg *verbs.Registry) (all []stores.Change) {
	add := func(entity string, key stores.Value, values map[string]stores.Value) {
		e := reg.Entity(entity).Store
		c := stores.Change{Op: stores.Insert, Entity: e, Key: key}
		for i := range e.Fields {
			if v, ok := values[e.Fields[i].Name]; ok {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			}
		}
		all = append(all, c)
	}
	text := func(s string, n int) stores.Value { return stores.NewString(fmt.Sprint(s, " ", n)) }
	type values = map[string]stores.Value
	for i := range busy + 1 {
		add("cbu", bankKey(aCBU, i), values{"name": text("Client", i)})
		add("case", bankKey(aCase, i), values{"name": text("Case", i), "cbu": bankKey(aCBU, i)})
		add("workstream", bankKey(aWorkstream, i), values{"name": text("Pierre Dupont", i), "case": bankKey(aCase, i)})
		rows := theirRows
		if i == busy {
			rows = manyRows
		}
		for j := range rows {
			n := i*theirRows + j
			add("request", bankKey(aRequest, n), values{
				"name": text("Request", n), "workstream": bankKey(aWorkstream, i),
				"due_date": stores.NewDays(int64(20_000 + j%100)), "status": stores.NewString("PENDING"),
			})
		}
	}
	return all
}

// note is a call that leaves a note on request n.
func note(n int) string {
	return fmt.Sprintf(`bank.add-note :request-id @request-%d :note "Accountant is sending it, %d" :expected-date 2025-01-03`, n, notes.Add(1))
}

const listing = `bank.list-requests`

// do takes a text through the whole path: parse, check, run.
func (b *bank) do(who int, text string) (*receipt.Receipt, error) {
	script, ds := dsl.Parse(dsl.NewSource("bench.dsl", text))
	if ds.HasErrors() {
		return nil, fmt.Errorf("%v", ds)
	}
	s := b.sessions[who]
	p, ds := s.Check(context.Background(), script)
	if ds.HasErrors() {
		return nil, fmt.Errorf("%v", ds)
	}
	return s.Run(context.Background(), p, engine.RunOptions{})
}

// aNote is one write of one client, i telling which of their rows.
func (b *bank) aNote(who, i int) error {
	_, err := b.do(who, note(who*theirRows+i%theirRows))
	return err
}

// ofOne is one write of somebody among many who all write for the same client.
func (b *bank) ofOne(who, i int) error {
	_, err := b.do(busy, note(busy*theirRows+who*theirRows+i%theirRows))
	return err
}

// script is n writes in one transaction, of the client who has many rows, from
// row first on.
func (b *bank) script(first, n int) error {
	var text strings.Builder
	for i := range n {
		text.WriteString(note(busy*theirRows+(first+i)%manyRows) + "\n")
	}
	reply, err := b.do(busy, text.String())
	if err == nil && len(reply.Calls) != n {
		err = fmt.Errorf("%d calls were answered", len(reply.Calls))
	}
	return err
}

// lastEntry is the latest line of the journal, for peers to write the like of.
func (b *bank) lastEntry() (stores.Entry, error) {
	ctx := context.Background()
	if err := b.store.Seal(ctx); err != nil {
		return stores.Entry{}, err
	}
	last, _, err := b.store.Head(ctx)
	if err != nil {
		return stores.Entry{}, err
	}
	all, err := b.store.Placed(ctx, last, last)
	if err != nil || len(all) != 1 {
		return stores.Entry{}, fmt.Errorf("the journal ends with %d entries: %w", len(all), err)
	}
	return all[0], nil
}

// turn is how long a contestant that works on a database has in each round.
const turn = time.Second

// together is by of all clients, each on rows of their own.
func together(fn func(who, i int) error) func() (float64, error) { return by(clients, fn) }

// by lets n work at once for a turn and returns the time that
// one piece of work took while they did: nanoseconds of the clock, not of one
// client.
func by(n int, fn func(who, i int) error) func() (float64, error) {
	return func() (float64, error) {
		var done atomic.Int64
		var first error
		var once sync.Once
		var all sync.WaitGroup
		start := time.Now()
		for who := range n {
			all.Go(func() {
				for i := 0; time.Since(start) < turn; i++ {
					if err := fn(who, i); err != nil {
						once.Do(func() { first = err })
						return
					}
					done.Add(1)
				}
			})
		}
		all.Wait()
		return float64(time.Since(start).Nanoseconds()) / float64(max(1, done.Load())), first
	}
}

// timed returns the nanoseconds that one of n pieces of work takes, all done by
// fn.
func timed(n int, fn func() error) func() (float64, error) {
	return func() (float64, error) {
		start := time.Now()
		err := fn()
		return float64(time.Since(start).Nanoseconds()) / float64(n), err
	}
}

// repeat does a piece of work n times.
func repeat(n int, fn func(i int) error) func() error {
	return func() error {
		for i := range n {
			if err := fn(i); err != nil {
				return err
			}
		}
		return nil
	}
}
