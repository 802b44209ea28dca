package engine

import (
	"errors"
	"slices"
	"testing"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Settling is a function of promises and a claim. These tables call it with
// values and no engine: what no promise covers, and what each promise misses.

var (
	item  = &verbs.Entity{Store: &stores.Entity{Name: "item", Fields: []stores.Field{{Name: "id"}, {Name: "name"}, {Name: "count", Default: stores.NewInt(1)}}}}
	other = &verbs.Entity{Store: &stores.Entity{Name: "other", Fields: item.Store.Fields}}
)

const (
	idField = iota
	nameField
	countField
)

var text = stores.NewString

func gives(field int, v stores.Value) assignment { return assignment{field: field, value: v} }

func row(id, name string) stores.Row {
	return stores.Row{Entity: item.Store, Values: []stores.Value{text(id), text(name), stores.NewInt(1)}}
}

func add(e *verbs.Entity, set ...assignment) rowChange {
	return rowChange{op: stores.Insert, entity: e, set: set}
}

func change1(e *verbs.Entity, id string, set ...assignment) rowChange {
	return rowChange{op: stores.Update, entity: e, key: text(id), set: set}
}

func remove(e *verbs.Entity, id string) rowChange {
	return rowChange{op: stores.Delete, entity: e, key: text(id)}
}

func rows(p ...rowChange) outcome { return outcome{rowChanges: p} }

// due is a promise that has to be kept; may one that need not be.
func due(e verbs.Effect, set ...assignment) promise { return promise{effect: &e, due: true, set: set} }

func may(e verbs.Effect, set ...assignment) promise {
	e.May = true
	return due(e, set...)
}

// not is a promise whose condition does not hold.
func not(p promise) promise {
	p.due = false
	return p
}

// picked is a promise about the rows that an effect picks.
func picked(e verbs.Effect, targets ...target) promise {
	e.Where = &verbs.Where{Param: -1}
	return promise{effect: &e, due: true, targets: targets}
}

func mayPick(e verbs.Effect, targets ...target) promise {
	e.May = true
	return picked(e, targets...)
}

func operand(kind verbs.EffectKind, path ...string) verbs.Effect {
	return verbs.Effect{Kind: kind, Operand: verbs.Operand{Text: "as written", Path: path}}
}

// letter makes the set of an effect, which says to the letter what is written.
func letter(e verbs.Effect, fields ...int) verbs.Effect {
	for _, f := range fields {
		e.Set = append(e.Set, verbs.Set{Field: f})
	}
	return e
}

func notify(target string) outcome {
	return outcome{notices: []notice{{kind: "notify", target: target}}}
}

func setting1(name string, v stores.Value) outcome {
	return outcome{sets: []setting{{name: name, value: v}}}
}

func TestWhatACallWantsIsHeldToWhatWasPromised(t *testing.T) {
	t.Parallel()
	var (
		creates  = verbs.Effect{Kind: verbs.Creates, Entity: item}
		named    = letter(creates, nameField)
		updates  = verbs.Effect{Kind: verbs.Updates, Entity: item}
		renames  = letter(updates, nameField)
		mayName  = verbs.Effect{Kind: verbs.Updates, Entity: item, Fields: []int{nameField}}
		deletes  = verbs.Effect{Kind: verbs.Deletes, Entity: item}
		tends    = verbs.Effect{Kind: verbs.Stores, Operand: verbs.Operand{Text: jobPromise}}
		prose    = verbs.Effect{Kind: verbs.Validates, Operand: verbs.Operand{Text: "the value"}}
		returns  = verbs.Effect{Kind: verbs.ReturnsEffect, Operand: verbs.Operand{Text: "the value"}}
		mode     = verbs.Effect{Kind: verbs.Sets, Session: "mode"}
		exactly  = verbs.Effect{Kind: verbs.Sets, Session: "mode", Value: &verbs.Expr{}}
		a        = row("a", "old")
		toNew    = gives(nameField, text("new"))
		toOther  = gives(nameField, text("other"))
		rename   = target{row: a, due: true, set: []assignment{toNew}}
		open     = target{row: a, due: true}
		closed   = target{row: a}
		modeIs   = func(p promise, v stores.Value) promise { p.setting = setting{name: "mode", value: v}; return p }
		promises = func(p ...promise) []promise { return p }
	)
	for name, c := range map[string]struct {
		promises []promise
		claim    outcome
		want     string // "" is settled
	}{
		"nothing was promised and nothing done": {nil, outcome{}, ""},

		"a row is added as promised":                     {promises(due(creates)), rows(add(item)), ""},
		"a row that nobody promised":                     {nil, rows(add(item)), "a row of item was to be added"},
		"a row of another entity":                        {promises(may(creates)), rows(add(other)), "a row of other was to be added"},
		"a row whose condition does not hold":            {promises(not(may(creates))), rows(add(item)), "a row of item was to be added"},
		"an update does not promise a row":               {promises(may(updates)), rows(add(item)), "a row of item was to be added"},
		"as many rows as a handler likes":                {promises(due(creates)), rows(add(item, toNew), add(item)), ""},
		"what is said to the letter is said once":        {promises(due(named, toNew)), rows(add(item, toNew), add(item, toNew)), "a row of item was to be added"},
		"said twice it is done twice":                    {promises(due(named, toNew), due(named, toNew)), rows(add(item, toNew), add(item, toNew)), ""},
		"another value than promised":                    {promises(due(named, toNew)), rows(add(item, toOther)), "a row of item was to be added"},
		"a promised value is left out":                   {promises(due(named, toNew)), rows(add(item)), "a row of item was to be added"},
		"a promised value that is the default, left out": {promises(due(letter(creates, countField), gives(countField, stores.NewInt(1)))), rows(add(item)), ""},
		"a field that is not promised":                   {promises(due(named, toNew)), rows(add(item, toNew, gives(countField, stores.NewInt(2)))), "a row of item was to be added"},
		"a field that is not promised, at its default":   {promises(due(named, toNew)), rows(add(item, toNew, gives(countField, stores.NewInt(1)))), ""},
		"a key is the handler's to give":                 {promises(due(named, toNew)), rows(add(item, toNew, gives(idField, text("k")))), ""},
		"a promised row is missing":                      {promises(due(creates)), outcome{}, "no row of item was to be added"},
		"a row that may be added is missing":             {promises(may(creates)), outcome{}, ""},
		"a row whose condition does not hold is missing": {promises(not(due(creates))), outcome{}, ""},

		"a row is changed as promised":            {promises(picked(renames, rename)), rows(change1(item, "a", toNew)), ""},
		"a change that nobody promised":           {nil, rows(change1(item, "a", toNew)), "name of a row of item was to be changed"},
		"a change of another row":                 {promises(mayPick(renames, rename)), rows(change1(item, "b", toNew)), "name of a row of item was to be changed"},
		"a change of another entity":              {promises(mayPick(renames, rename)), rows(change1(other, "a", toNew)), "name of a row of other was to be changed"},
		"a change to another value":               {promises(mayPick(renames, rename)), rows(change1(item, "a", toOther)), "name of a row of item was to be changed"},
		"a change of another field":               {promises(mayPick(renames, rename)), rows(change1(item, "a", toNew, gives(countField, stores.NewInt(2)))), "count of a row of item was to be changed"},
		"a change of the key":                     {promises(may(updates)), rows(change1(item, "a", gives(idField, text("b")))), "the key of a row of item was to be changed"},
		"a change whose condition does not hold":  {promises(mayPick(renames, target{row: a, set: []assignment{toNew}})), rows(change1(item, "a", toNew)), "name of a row of item was to be changed"},
		"a deletion does not promise a change":    {promises(mayPick(deletes, open)), rows(change1(item, "a", toNew)), "name of a row of item was to be changed"},
		"a new row does not promise a change":     {promises(may(creates)), rows(change1(item, "a", toNew)), "name of a row of item was to be changed"},
		"any change, where the palette says so":   {promises(may(updates)), rows(change1(item, "z", toNew)), ""},
		"any change, where its condition fails":   {promises(not(may(updates))), rows(change1(item, "z", toNew)), "name of a row of item was to be changed"},
		"a field that may change":                 {promises(may(mayName)), rows(change1(item, "z", toNew)), ""},
		"a field beside the one that may":         {promises(may(mayName)), rows(change1(item, "z", gives(countField, stores.NewInt(2)))), "count of a row of item was to be changed"},
		"what is set elsewhere is not free here":  {promises(may(renames)), rows(change1(item, "z", toNew)), "name of a row of item was to be changed"},
		"fields may change beside those set":      {promises(may(verbs.Effect{Kind: verbs.Updates, Entity: item, Fields: []int{nameField, countField}, Set: []verbs.Set{{Field: countField}}})), rows(change1(item, "z", toNew)), ""},
		"a set field, though it is listed":        {promises(may(verbs.Effect{Kind: verbs.Updates, Entity: item, Fields: []int{countField}, Set: []verbs.Set{{Field: countField}}})), rows(change1(item, "z", gives(countField, stores.NewInt(2)))), "count of a row of item was to be changed"},
		"any field, though another is set":        {promises(mayPick(renames, rename)), rows(change1(item, "a", gives(countField, stores.NewInt(2)))), "count of a row of item was to be changed"},
		"a promised change is missing":            {promises(picked(renames, rename)), outcome{}, "a row of item was not to be changed"},
		"one of two rows is missing":              {promises(picked(renames, rename, target{row: row("b", "old"), due: true, set: []assignment{toNew}})), rows(change1(item, "a", toNew)), "a row of item was not to be changed"},
		"one of two fields is missing":            {promises(picked(letter(renames, countField), target{row: a, due: true, set: []assignment{toNew, gives(countField, stores.NewInt(2))}})), rows(change1(item, "a", toNew)), "a row of item was not to be changed"},
		"another field of the same value":         {promises(picked(renames, rename), mayPick(letter(updates, countField), target{row: a, due: true, set: []assignment{gives(countField, text("new"))}})), rows(change1(item, "a", gives(countField, text("new")))), "a row of item was not to be changed"},
		"the same row of another entity is no it": {promises(picked(renames, rename), may(verbs.Effect{Kind: verbs.Updates, Entity: other})), rows(change1(other, "a", toNew)), "a row of item was not to be changed"},
		"a new row is no changed row":             {promises(picked(renames, rename), due(creates)), rows(rowChange{op: stores.Insert, entity: item, key: text("a"), set: []assignment{toNew}}), "a row of item was not to be changed"},
		"another value, that another promised":    {promises(picked(renames, rename), mayPick(renames, target{row: a, due: true, set: []assignment{toOther}})), rows(change1(item, "a", toOther)), "a row of item was not to be changed"},
		"it holds the value already":              {promises(picked(renames, target{row: a, due: true, set: []assignment{gives(nameField, text("old"))}})), outcome{}, ""},
		"no row was picked":                       {promises(picked(renames)), outcome{}, ""},
		"a picked row that need not change":       {promises(picked(renames, closed)), outcome{}, ""},
		"a change in so many words is missing":    {promises(due(updates)), outcome{}, "no row of item was to be changed"},
		"a change in so many words":               {promises(due(updates)), rows(change1(item, "z", toNew)), ""},
		"a picked row is to be spoken of":         {promises(picked(mayName, open)), outcome{}, "a row of item was not to be changed"},
		"a picked row is spoken of":               {promises(picked(mayName, open)), rows(change1(item, "a", toNew)), ""},
		"a picked row, another field of it":       {promises(picked(mayName, open), may(updates)), rows(change1(item, "a", gives(countField, stores.NewInt(2)))), "a row of item was not to be changed"},

		"a row is deleted as promised":           {promises(picked(deletes, open)), rows(remove(item, "a")), ""},
		"a deletion that nobody promised":        {nil, rows(remove(item, "a")), "a row of item was to be deleted"},
		"a deletion of another row":              {promises(mayPick(deletes, open)), rows(remove(item, "b")), "a row of item was to be deleted"},
		"a deletion of another entity":           {promises(may(deletes)), rows(remove(other, "a")), "a row of other was to be deleted"},
		"a change does not promise a deletion":   {promises(may(updates)), rows(remove(item, "a")), "a row of item was to be deleted"},
		"a promised deletion is missing":         {promises(picked(deletes, open)), outcome{}, "a row of item was not to be deleted"},
		"a change is no deletion":                {promises(picked(deletes, open), may(updates)), rows(change1(item, "a", toNew)), "a row of item was not to be deleted"},
		"a deletion is no change":                {promises(picked(mayName, open), may(deletes)), rows(remove(item, "a")), "a row of item was not to be changed"},
		"a deletion in so many words is missing": {promises(due(deletes)), outcome{}, "no row of item was to be deleted"},
		"a deletion in so many words":            {promises(due(deletes)), rows(remove(item, "z")), ""},

		"a notice goes out as promised":      {promises(due(operand(verbs.Notifies, "bank", "desk"))), notify("bank.desk"), ""},
		"a notice that nobody promised":      {nil, notify("bank"), "a notify to bank was to go out"},
		"a notice to somebody else":          {promises(may(operand(verbs.Notifies, "bank"))), notify("press"), "a notify to press was to go out"},
		"a trigger is no notice":             {promises(may(operand(verbs.Triggers, "bank"))), notify("bank"), "a notify to bank was to go out"},
		"a notice is no trigger":             {promises(may(operand(verbs.Notifies, "bank"))), outcome{notices: []notice{{kind: "trigger", target: "bank"}}}, "a trigger to bank was to go out"},
		"what validates does not notify":     {promises(may(operand(verbs.Validates, "bank"))), notify("bank"), "a notify to bank was to go out"},
		"a notice is sent once":              {promises(due(operand(verbs.Notifies, "bank"))), outcome{notices: []notice{{kind: "notify", target: "bank"}, {kind: "notify", target: "bank"}}}, "a notify to bank was to go out"},
		"a notice whose condition fails":     {promises(not(may(operand(verbs.Notifies, "bank")))), notify("bank"), "a notify to bank was to go out"},
		"a notice to a sentence":             {promises(due(operand(verbs.Notifies))), notify("as written"), ""},
		"a promised notice is missing":       {promises(due(operand(verbs.Notifies, "bank"))), outcome{}, "no notify to bank was to go out"},
		"a promised trigger is missing":      {promises(due(operand(verbs.Triggers, "bank"))), outcome{}, "no trigger to bank was to go out"},
		"a notice that may go out need not":  {promises(may(operand(verbs.Notifies, "bank"))), outcome{}, ""},
		"the session is given what it may":   {promises(due(mode)), setting1("mode", text("x")), ""},
		"the session is given something":     {nil, setting1("mode", text("x")), "session.mode was to be set"},
		"the session is given another name":  {promises(may(mode)), setting1("loud", text("x")), "session.loud was to be set"},
		"the session is given it twice":      {promises(due(mode)), outcome{sets: []setting{{name: "mode"}, {name: "mode"}}}, "session.mode was to be set"},
		"the session, condition fails":       {promises(not(may(mode))), setting1("mode", text("x")), "session.mode was to be set"},
		"the session is given the value":     {promises(modeIs(due(exactly), text("x"))), setting1("mode", text("x")), ""},
		"the session is given another value": {promises(modeIs(may(exactly), text("y"))), setting1("mode", text("x")), "session.mode was to be set"},
		"the session is not given it":        {promises(due(mode)), outcome{}, "session.mode was not to be set"},

		"a job is tried again":             {promises(due(tends)), outcome{jobChanges: []receipt.JobChange{{}}}, ""},
		"two jobs are":                     {promises(due(tends)), outcome{jobChanges: []receipt.JobChange{{}, {Drop: true}}}, ""},
		"a job is, and nobody promised":    {nil, outcome{jobChanges: []receipt.JobChange{{}}}, "a job was to be tried again"},
		"a job is dropped":                 {promises(may(prose)), outcome{jobChanges: []receipt.JobChange{{Drop: true}}}, "a job was to be dropped"},
		"a job whose condition fails":      {promises(not(may(tends))), outcome{jobChanges: []receipt.JobChange{{}}}, "a job was to be tried again"},
		"no job is":                        {promises(due(tends)), outcome{}, "no job was to be tried again or dropped"},
		"somebody says that it was done":   {promises(due(prose)), outcome{kept: []string{"the value"}}, ""},
		"nobody says that it was done":     {promises(due(prose)), outcome{}, "nobody says that it was done"},
		"it says that it did another":      {promises(may(prose)), outcome{kept: []string{"more"}}, `it says that it did "more"`},
		"it says what is shown otherwise":  {promises(may(returns)), outcome{kept: []string{"the value"}}, `it says that it did "the value"`},
		"it says so, condition fails":      {promises(not(may(prose))), outcome{kept: []string{"the value"}}, `it says that it did "the value"`},
		"an answer is given":               {promises(due(returns)), outcome{answer: &table{}}, ""},
		"no answer is given":               {promises(due(returns)), outcome{}, "nothing was given back"},
		"a branch is described":            {promises(due(operand(verbs.IfTrue)), due(operand(verbs.IfFalse))), outcome{}, ""},
		"a verb that was to be called":     {promises(due(operand(verbs.Generates, "alarm", "ring"))), outcome{}, "alarm.ring was not to be called"},
		"a verb that may be called":        {promises(may(operand(verbs.Generates, "alarm", "ring"))), outcome{}, ""},
		"what is generated is no verb":     {promises(due(operand(verbs.Generates, "report"))), outcome{kept: []string{"as written"}}, ""},
		"what is generated is not there":   {promises(due(operand(verbs.Generates, "report"))), outcome{}, "nobody says that it was done"},
		"what is stored is in no table":    {promises(due(operand(verbs.Stores, "the file"))), outcome{kept: []string{"as written"}}, ""},
		"a promise of notices says itself": {promises(may(operand(verbs.Notifies, "bank"))), outcome{kept: []string{"as written"}}, `it says that it did "as written"`},
		"a promise of rows says itself":    {promises(may(verbs.Effect{Kind: verbs.Creates, Entity: item, Operand: prose.Operand})), outcome{kept: []string{"the value"}}, `it says that it did "the value"`},
		"a promised change says itself":    {promises(may(verbs.Effect{Kind: verbs.Updates, Entity: item, Operand: prose.Operand})), outcome{kept: []string{"the value"}}, `it says that it did "the value"`},
		"a session's promise says itself":  {promises(may(verbs.Effect{Kind: verbs.Sets, Session: "mode", Operand: prose.Operand})), outcome{kept: []string{"the value"}}, `it says that it did "the value"`},
		"a promised job says itself":       {promises(may(tends)), outcome{kept: []string{jobPromise}}, `it says that it did "` + jobPromise + `"`},
		"a promised call says itself":      {promises(may(operand(verbs.Generates, "alarm", "ring"))), outcome{kept: []string{"as written"}}, `it says that it did "as written"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verb := &verbs.Verb{Name: "test.verb"}
			err := verify(verb, c.promises, &c.claim)
			var b *BrokenPromise
			switch {
			case c.want == "" && err != nil:
				t.Fatalf("settle: %v, want it settled", err)
			case c.want != "" && !errors.As(err, &b):
				t.Fatalf("settle: %v, want a broken promise: %s", err, c.want)
			case c.want != "" && (b.Happened != c.want || b.Verb != verb.Name):
				t.Errorf("settle: %s %s, want %s %s", b.Verb, b.Happened, verb.Name, c.want)
			}
		})
	}
}

// A notice that is settled knows the effect that promised it, and when its work
// begins.
func TestANoticeTakesTheTimeOfItsPromise(t *testing.T) {
	t.Parallel()
	first, second := due(operand(verbs.Triggers, "siren")), due(operand(verbs.Triggers, "siren"))
	second.at = stores.NewDays(7)
	d := outcome{notices: []notice{{kind: "trigger", target: "siren"}, {kind: "trigger", target: "siren"}}}
	if err := verify(&verbs.Verb{}, []promise{first, second}, &d); err != nil {
		t.Fatal(err)
	}
	if n := d.notices; n[0].effect != first.effect || !n[0].at.IsNull() || n[1].effect != second.effect || n[1].at != second.at {
		t.Errorf("the notices are of %v at %v, and of %v at %v", n[0].effect, n[0].at, n[1].effect, n[1].at)
	}
}

// The engine carries out each effect that the palette spells out and whose condition
// holds. It leaves the other effects to a handler.
func TestWhatIsDeclaredIsDone(t *testing.T) {
	t.Parallel()
	declare := func(p promise) promise { p.effect.Declared = true; return p }
	target := target{row: row("a", "old"), due: true, set: []assignment{gives(nameField, text("new"))}, stood: []int{countField}}
	set := []assignment{gives(nameField, text("new"))}
	creates, deletes, updates := verbs.Effect{Kind: verbs.Creates, Entity: item}, verbs.Effect{Kind: verbs.Deletes, Entity: item}, verbs.Effect{Kind: verbs.Updates, Entity: item}
	sends, mode := operand(verbs.Notifies, "bank"), verbs.Effect{Kind: verbs.Sets, Session: "mode"}
	sends.With = []verbs.With{{Key: "note"}}
	all := []promise{due(creates, set...), picked(updates, target), picked(deletes, target), due(sends), due(mode)}
	all[3].values, all[3].sensitive, all[3].came = []stores.Value{text("n")}, []bool{true}, make([]verbs.Origin, 1)
	all[4].setting = setting{name: "mode", value: text("x")}

	if d := declared(all); len(d.rowChanges)+len(d.notices)+len(d.sets) != 0 {
		t.Errorf("what is left to a handler was done: %+v", d)
	}
	for i := range all {
		all[i] = declare(all[i])
	}
	d := declared(all)
	if len(d.rowChanges) != 3 || len(d.notices) != 1 || len(d.sets) != 1 {
		t.Fatalf("done: %+v", d)
	}
	if p := d.rowChanges[0]; p.op != stores.Insert || p.entity != item || len(p.set) != 1 {
		t.Errorf("added: %+v", p)
	}
	for i, op := range []stores.Op{stores.Update, stores.Delete} {
		if p := d.rowChanges[i+1]; p.op != op || p.entity != item || p.key != text("a") || p.before.Key() != text("a") || len(p.set) != 1 || !slices.Equal(p.stood, []int{countField}) {
			t.Errorf("done to the row: %+v", p)
		}
	}
	if n := d.notices[0]; n.kind != "notify" || n.target != "bank" || !slices.Equal(n.keys, []string{"note"}) || len(n.values) != 1 || len(n.came) != 1 || !n.sensitive[0] {
		t.Errorf("sent: %+v", n)
	}
	if a := d.sets[0]; a.name != "mode" || a.value != text("x") {
		t.Errorf("set: %+v", a)
	}
	for i := range all {
		all[i].due = false
		for j := range all[i].targets {
			all[i].targets[j].due = false
		}
	}
	if d := declared(all); len(d.rowChanges)+len(d.notices)+len(d.sets) != 0 {
		t.Errorf("what is not due was done: %+v", d)
	}
}

// A macro's own promises hold what its calls did, by entity, operation and
// fields.
func TestWhatTheCallsOfAMacroDoIsHeldToItsPromises(t *testing.T) {
	t.Parallel()
	var (
		creates = verbs.Effect{Kind: verbs.Creates, Entity: item}
		updates = verbs.Effect{Kind: verbs.Updates, Entity: item}
		names   = verbs.Effect{Kind: verbs.Updates, Entity: item, Fields: []int{nameField}}
		sets    = letter(updates, nameField)
		deletes = verbs.Effect{Kind: verbs.Deletes, Entity: item}
		tends   = verbs.Effect{Kind: verbs.Stores, Operand: verbs.Operand{Text: jobPromise}}
		bank    = operand(verbs.Notifies, "bank")
		mode    = verbs.Effect{Kind: verbs.Sets, Session: "mode"}
		rings   = operand(verbs.Generates, "alarm", "ring")
		returns = operand(verbs.ReturnsEffect)
		prose   = operand(verbs.Validates)
		may     = func(e verbs.Effect) verbs.Effect { e.May = true; return e }
		when    = func(e verbs.Effect) verbs.Effect { e.When = &verbs.Expr{}; return e }
		effects = func(e ...verbs.Effect) []verbs.Effect { return e }
		did     = func(op stores.Op, e *verbs.Entity, fields ...int) collectedEffects {
			c := change{Change: stores.Change{Op: op, Entity: e.Store}, entity: e}
			for _, f := range fields {
				c.Set = append(c.Set, stores.Assign{Field: f})
			}
			return collectedEffects{changes: []change{c}}
		}
		said = func(kind, target string) collectedEffects {
			return collectedEffects{notices: []notice{{kind: kind, target: target}}}
		}
		verb = func(name string, e ...verbs.Effect) collectedEffects {
			return collectedEffects{inside: []*verbs.Verb{{Name: name, Effects: e}}}
		}
	)
	for name, c := range map[string]struct {
		effects []verbs.Effect
		done    collectedEffects
		want    string
	}{
		"without promises anything goes": {nil, did(stores.Insert, item), ""},

		"a row is added":                    {effects(creates), did(stores.Insert, item), ""},
		"a row is added, and not promised":  {effects(may(updates)), did(stores.Insert, item), "a row of item was to be added"},
		"a row of another entity":           {effects(may(creates)), did(stores.Insert, other), "a row of other was to be added"},
		"a row is not added":                {effects(creates), collectedEffects{}, "none of its calls did it"},
		"a row need not be added":           {effects(may(creates)), collectedEffects{}, ""},
		"a row is not added on a condition": {effects(when(creates)), collectedEffects{}, ""},
		"a row is changed":                  {effects(updates), did(stores.Update, item, nameField), ""},
		"a row need not be found":           {effects(updates), collectedEffects{}, ""},
		"a field that is promised":          {effects(names), did(stores.Update, item, nameField), ""},
		"a field that is given a value":     {effects(sets), did(stores.Update, item, nameField), ""},
		"a field beside the promised":       {effects(names), did(stores.Update, item, nameField, countField), "name, count of a row of item was to be changed"},
		"a field beside the given":          {effects(sets), did(stores.Update, item, countField), "count of a row of item was to be changed"},
		"a changed row is no new one":       {effects(may(creates)), did(stores.Update, item, nameField), "name of a row of item was to be changed"},
		"a changed row is no deleted one":   {effects(deletes), did(stores.Update, item, nameField), "name of a row of item was to be changed"},
		"a row is deleted":                  {effects(deletes), did(stores.Delete, item), ""},
		"a deleted row is no changed one":   {effects(updates), did(stores.Delete, item), "a row of item was to be deleted"},

		"a notice goes out":          {effects(bank), said("notify", "bank"), ""},
		"a notice is not promised":   {effects(may(creates)), said("notify", "bank"), "a notify to bank was to go out"},
		"a notice to somebody else":  {effects(may(bank)), said("notify", "press"), "a notify to press was to go out"},
		"a trigger is not a notice":  {effects(may(bank)), said("trigger", "bank"), "a trigger to bank was to go out"},
		"a notice does not go out":   {effects(bank), collectedEffects{}, "none of its calls did it"},
		"the session is given it":    {effects(mode), collectedEffects{sets: []setting{{name: "mode"}}, inside: verb("v", mode).inside}, ""},
		"the session had it":         {effects(mode), verb("v", mode), ""},
		"the session is not given":   {effects(mode), verb("v", bank), "none of its calls did it"},
		"the session is given more":  {effects(may(mode)), collectedEffects{sets: []setting{{name: "loud"}}}, "session.loud was to be set"},
		"a job is tried again":       {effects(tends), collectedEffects{jobChanges: []receipt.JobChange{{}}}, ""},
		"a job is not promised":      {effects(may(creates)), collectedEffects{jobChanges: []receipt.JobChange{{Drop: true}}}, "a job was to be dropped"},
		"a job is not tried":         {effects(tends), collectedEffects{}, "none of its calls did it"},
		"the verb is called":         {effects(rings), verb("alarm.ring"), ""},
		"another verb is called":     {effects(rings), verb("alarm.rest"), "none of its calls did it"},
		"an answer is given":         {effects(returns), collectedEffects{answered: true}, ""},
		"no answer is given":         {effects(returns), collectedEffects{}, "none of its calls did it"},
		"prose is not looked for":    {effects(prose), collectedEffects{}, ""},
		"one promise kept, one not":  {effects(bank, creates), said("notify", "bank"), "none of its calls did it"},
		"no other notice will do":    {effects(bank, may(operand(verbs.Notifies, "press"))), said("notify", "press"), "none of its calls did it"},
		"no change of a row will do": {effects(creates, updates), did(stores.Update, item, nameField), "none of its calls did it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := verifyMacro(&verbs.Verb{Name: "test.macro", Effects: c.effects}, c.done)
			var b *BrokenPromise
			switch {
			case c.want == "" && err != nil:
				t.Fatalf("settleMacro: %v, want it settled", err)
			case c.want != "" && !errors.As(err, &b):
				t.Fatalf("settleMacro: %v, want a broken promise: %s", err, c.want)
			case c.want != "" && b.Happened != c.want:
				t.Errorf("settleMacro: %s, want %s", b.Happened, c.want)
			}
		})
	}
}

// gather collects the changes, notices, settings and jobs of every call inside a
// macro, at any depth.
func TestWhatIsInsideAMacroIsGathered(t *testing.T) {
	t.Parallel()
	leaf := func(name string) *step {
		return &step{verb: &verbs.Verb{Name: name}, out: effects{changes: []change{{}}, notices: []notice{{}}, sets: []setting{{}}, jobChanges: []receipt.JobChange{{}}}}
	}
	middle := leaf("middle")
	middle.tree.inner = []*step{leaf("deep")}
	top := &step{verb: &verbs.Verb{Name: "top"}, tree: nesting{inner: []*step{middle, leaf("second")}}, out: effects{cells: &table{}}}
	g := top.gather()
	if len(g.changes) != 3 || len(g.notices) != 3 || len(g.sets) != 3 || len(g.jobChanges) != 3 || !g.answered {
		t.Errorf("gathered %d changes, %d notices, %d sets, %d jobs, answered %t", len(g.changes), len(g.notices), len(g.sets), len(g.jobChanges), g.answered)
	}
	var inside []string
	for _, v := range g.inside {
		inside = append(inside, v.Name)
	}
	if !slices.Equal(inside, []string{"middle", "deep", "second"}) {
		t.Errorf("inside: %v", inside)
	}
	if len(middle.out.changes) != 1 {
		t.Error("gathering changed what a call did")
	}
}

// Which rows an effect changes, and on which of their own fields that rests.
func TestAnEffectPicksTheRowsOfItsArgument(t *testing.T) {
	t.Parallel()
	updates := verbs.Effect{Kind: verbs.Updates, Entity: item, Where: &verbs.Where{Param: 0}}
	verb := &verbs.Verb{Params: []verbs.Param{{Name: "item-id"}}}
	for name, c := range map[string]struct {
		given   stores.Row
		targets int
		refused bool
	}{
		"a row of the entity":                         {row("a", "old"), 1, false},
		"no row, of an argument that was not given":   {stores.Row{}, 0, false},
		"a row of another entity, which is not meant": {stores.Row{Entity: other.Store, Values: row("a", "old").Values}, 0, true},
	} {
		p := promise{effect: &updates}
		err := new(run).src.targets(t.Context(), &step{verb: verb, args: arguments{rows: []stores.Row{c.given}}}, &p)
		var refused *callError
		if errors.As(err, &refused) != c.refused || len(p.targets) != c.targets || p.due != (c.targets > 0) {
			t.Errorf("%s: %d targets, due %t, %v", name, len(p.targets), p.due, err)
		}
		if c.targets > 0 && (!p.targets[0].due || p.targets[0].row.Key() != text("a")) {
			t.Errorf("%s: %+v", name, p.targets[0])
		}
	}
}

// A change rests on the fields of its own row that its condition and its values
// read: not on those of other rows, and not on how many rows there are.
func TestAChangeRestsOnTheFieldsItReads(t *testing.T) {
	t.Parallel()
	reads := func(all ...verbs.ExprRead) *verbs.Expr { return &verbs.Expr{Reads: all} }
	own, argument, elsewhere := verbs.ExprRead{Param: -1, Path: stores.Path{Field: nameField}}, verbs.ExprRead{Param: 0, Path: stores.Path{Field: countField}}, verbs.ExprRead{Param: 1, Path: stores.Path{Field: countField}}
	further := verbs.ExprRead{Param: -1, Path: stores.Path{Steps: []stores.Step{{Field: countField}}, Field: nameField}}
	counted := verbs.ExprRead{Param: -1, Path: stores.Path{Count: item.Store, Field: nameField}}
	for name, c := range map[string]struct {
		effect verbs.Effect
		want   []int
	}{
		"nothing is read":                     {verbs.Effect{Where: &verbs.Where{}}, nil},
		"a condition reads the row":           {verbs.Effect{Where: &verbs.Where{}, When: reads(own)}, []int{nameField}},
		"a value reads the row":               {verbs.Effect{Where: &verbs.Where{}, Set: []verbs.Set{{Value: reads(own)}}}, []int{nameField}},
		"the row is that of the argument":     {verbs.Effect{Where: &verbs.Where{Param: 0}, When: reads(argument, elsewhere)}, []int{countField}},
		"a filter picks other rows":           {verbs.Effect{Where: &verbs.Where{Param: 0, Filter: &verbs.Filter{}}, When: reads(argument)}, nil},
		"a path begins at a field of the row": {verbs.Effect{Where: &verbs.Where{}, When: reads(further)}, []int{countField}},
		"rows are counted":                    {verbs.Effect{Where: &verbs.Where{}, When: reads(counted)}, nil},
	} {
		if got := stoodOn(&c.effect); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		p := promise{effect: &c.effect}
		if c.effect.When != nil || len(c.effect.Set) > 0 || c.effect.Where.Filter != nil {
			continue
		}
		c.effect.Entity = item
		if err := new(run).src.targets(t.Context(), &step{verb: &verbs.Verb{Params: []verbs.Param{{Name: "item-id"}}}, args: arguments{rows: []stores.Row{row("a", "old")}}}, &p); err != nil || len(p.targets) != 1 {
			t.Errorf("%s: %v %v", name, p.targets, err)
		}
	}
}
