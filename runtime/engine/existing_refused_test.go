package engine_test

import (
	"errors"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

const strictSQL = `CREATE TABLE author (id varchar(10) PRIMARY KEY, name varchar(20) NOT NULL);
CREATE DOMAIN isbn AS text CHECK (VALUE LIKE '978%'); -- postgres
CREATE TABLE book (id varchar(10) PRIMARY KEY, author varchar(10) REFERENCES author, title varchar(8) NOT NULL, pages smallint CONSTRAINT some_pages CHECK (pages > 0), price numeric(5,2), code isbn, shelf text UNIQUE, state text CHECK (state <> 'lost')); -- postgres
CREATE TABLE book (id varchar(10) PRIMARY KEY, author varchar(10) REFERENCES author, title varchar(8) NOT NULL, pages smallint CONSTRAINT some_pages CHECK (pages > 0), price numeric(5,2), code text CHECK (code LIKE '978%'), shelf text UNIQUE, state text CHECK (state <> 'lost')); -- sqlite
CREATE TABLE softly (id varchar(10) PRIMARY KEY, note text, gone boolean);
CREATE TABLE kept (id varchar(10) PRIMARY KEY, note text);
INSERT INTO author VALUES ('a', 'Ann'); INSERT INTO book (id, author, title, shelf) VALUES ('b', 'a', 'One', 's1'), ('c', NULL, 'Two', 's2');
INSERT INTO softly VALUES ('x', 'n', false); INSERT INTO kept VALUES ('k', 'n');
CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.title = 'Closed' THEN RAISE EXCEPTION 'the secret of row % is out', NEW.id; ELSIF NEW.title = 'Own' THEN RAISE EXCEPTION 'own words' USING ERRCODE = 'AB123'; END IF; RETURN NEW; END $$; -- postgres
CREATE TRIGGER guard BEFORE UPDATE ON book FOR EACH ROW EXECUTE FUNCTION guard(); -- postgres
CREATE TRIGGER guard BEFORE UPDATE ON book WHEN NEW.title = 'Closed' BEGIN SELECT RAISE(ABORT, 'the secret of row b is out'); END; -- sqlite
CREATE RULE softly AS ON DELETE TO softly DO INSTEAD UPDATE softly SET gone = true WHERE id = OLD.id; -- postgres
CREATE TRIGGER softly BEFORE DELETE ON softly BEGIN UPDATE softly SET gone = true WHERE id = OLD.id; SELECT RAISE(IGNORE); END; -- sqlite
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; -- postgres
CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON kept FOR EACH ROW EXECUTE FUNCTION keep(); -- postgres
CREATE TRIGGER keep BEFORE UPDATE ON kept BEGIN SELECT RAISE(IGNORE); END; -- sqlite
`

const strictPalette = `
domain: shop
roles: [{name: clerk, sees: all}]
entities:
  author:
    key: id
    key-by: caller
    scope: everyone
    label: "{name}"
    fields: {id: {type: string}, name: {type: string}}
  book:
    key: id
    key-by: caller
    scope: everyone
    label: "{id}"REFUSES
    fields: {id: {type: string}, author: {type: ref, ref-type: author}, title: {type: string}, pages: {type: integer}, price: {type: decimal, scale: 2}, code: {type: string}, shelf: {type: string}, state: {type: string}}
  softly:
    key: id
    key-by: caller
    scope: everyone
    label: "{id}"
    fields: {id: {type: string}, note: {type: string}}
  kept:
    key: id
    key-by: caller
    scope: everyone
    label: "{id}"
    fields: {id: {type: string}, note: {type: string}}
verbs:
  - verb: change
    roles: [clerk]
    args: [{name: book, type: ref, ref-type: book, required: true}, {name: title, type: string}, {name: pages, type: integer}, {name: price, type: decimal}, {name: code, type: string}, {name: shelf, type: string}, {name: state, type: string}]
    effects: [{updates: book, where: book, set: {title: title, pages: pages, price: price, code: code, shelf: shelf, state: state}}]
  - verb: untitle
    roles: [clerk]
    args: [{name: book, type: ref, ref-type: book, required: true}]
    effects: [{updates: book.title, where: book, set: {title: nil}}]
  - verb: drop-author
    roles: [clerk]
    args: [{name: author, type: ref, ref-type: author, required: true}]
    effects: [{deletes: author, where: author}]
  - verb: drop-softly
    roles: [clerk]
    args: [{name: softly, type: ref, ref-type: softly, required: true}]
    effects: [{deletes: softly, where: softly}]
  - verb: note
    roles: [clerk]
    args: [{name: kept, type: ref, ref-type: kept, required: true}, {name: note, type: string, required: true}]
    effects: [{updates: kept.note, where: kept, set: {note: note}}]
`

// G26: what the database says of a change reaches the caller as the fields that it is about, or as
// the palette's sentence; and the operator as it is. The words of a trigger reach no caller
// unless the palette says so.
func TestWhatTheDatabaseRefusesIsTold(t *testing.T) {
	t.Parallel()
	onExisting(t, strictSQL, func(t *testing.T, open func(string) *old) {
		said := open(strings.Replace(strictPalette, "REFUSES", "\n    refuses: {some_pages: a book has pages, P0001: \"no: {text}\", SQLITE_CONSTRAINT_TRIGGER: \"no: {text}\"}", 1)).begin()
		o := open(strings.Replace(strictPalette, "REFUSES", "", 1)).begin()
		onSQLite := strings.HasSuffix(t.Name(), "/sqlite")
		for _, c := range []struct {
			call, code, says, cause string
			postgres                bool // only there
		}{
			{`shop.change :book @b :pages 0`, "not-accepted", "what its database does not take as pages", "some_pages", false},
			{`shop.change :book @b :state "lost"`, "not-accepted", "what its database does not take as state", "", false},
			{`shop.change :book @b :code "123"`, "not-accepted", "what its database does not take as code", "", false},
			{`shop.change :book @b :shelf "s2"`, "already-exists", "would make two rows of book that are the same in shelf", "", false},
			{`shop.untitle :book @b`, "not-accepted", "without title, which its database needs", "", false},
			{`shop.change :book @b :title "far too long a title"`, "not-accepted", "would give title of the book a value that does not fit", "22001", true},
			{`shop.change :book @b :pages 99999`, "not-accepted", "would give pages of the book a value that does not fit", "22003", true},
			{`shop.change :book @b :price 12345`, "not-accepted", "would give price of the book a value that does not fit", "22003", true},
			{`shop.change :book @b :title "Closed"`, "not-accepted", "a rule of the database refused", "the secret of row b is out", false},
			{`shop.change :book @b :title "Own"`, "not-accepted", "a rule of the database refused", "AB123, own words", true},
			{`shop.drop-author :author @ann`, "not-accepted", "cannot delete what other rows still need", "", false},
			{`shop.drop-softly :softly @x`, "not-accepted", "the database keeps the softly as it is", "", false},
			{`shop.note :kept @k :note "new"`, "not-accepted", "the database keeps the kept as it is", "", false},
		} {
			if c.postgres && onSQLite {
				continue
			}
			o.refused(c.call, c.code, c.says)
			_, err := o.run(c.call)
			var refusal *engine.Refusal
			var why *stores.Refused
			if !errors.As(err, &refusal) || refusal.Cause() == nil || !errors.As(refusal.Cause(), &why) || !strings.Contains(refusal.Cause().Error(), c.cause) {
				t.Errorf("%s: the operator is told %v", c.call, refusal.Cause())
			}
			if strings.Contains(engine.Sentence(err), "secret") || strings.Contains(engine.Sentence(err), "somebody else") {
				t.Errorf("%s: the caller is told %s", c.call, engine.Sentence(err))
			}
		}
		said.refused(`shop.change :book @b :pages 0`, "not-accepted", "a book has pages")
		said.refused(`shop.change :book @b :title "Closed"`, "not-accepted", "no: the secret of row b is out")
	})
}
