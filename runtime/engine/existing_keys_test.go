package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

const musicSQL = `CREATE TABLE artist (artist_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL); -- sqlite
CREATE TABLE artist (artist_id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text NOT NULL); -- postgres
CREATE TABLE album (album_id INTEGER PRIMARY KEY, title TEXT NOT NULL, artist_id INTEGER NOT NULL REFERENCES artist (artist_id)); -- sqlite
CREATE TABLE album (album_id serial PRIMARY KEY, title text NOT NULL, artist_id integer NOT NULL REFERENCES artist (artist_id)); -- postgres
CREATE TABLE shelf (code varchar(20) PRIMARY KEY, place text NOT NULL);
CREATE TABLE shelved (
  album_id integer NOT NULL REFERENCES album (album_id),
  shelf varchar(20) NOT NULL REFERENCES shelf (code),
  copies integer NOT NULL,
  PRIMARY KEY (album_id, shelf)
);
CREATE INDEX album_artist ON album (artist_id);
INSERT INTO artist (name) VALUES ('Nina'), ('Miles');
INSERT INTO album (title, artist_id) VALUES ('Blue', 2);
INSERT INTO shelf VALUES ('a/1', 'by the door'), ('b~2', 'upstairs');
INSERT INTO shelved VALUES (1, 'a/1', 2);
`

const musicPalette = `
domain: music
roles: [{name: clerk, sees: all}]
entities:
  artist:
    key: artist_id
    key-by: database
    scope: everyone
    label: "{name}"
    fields: {artist_id: {type: integer}, name: {type: string, required: true}}
  album:
    key: album_id
    key-by: database
    scope: everyone
    label: "{title}"
    fields: {album_id: {type: integer}, title: {type: string, required: true}, artist: {type: ref, ref-type: artist, required: true, column: artist_id}}
  shelf:
    key: code
    key-by: caller
    scope: everyone
    label: "{code}"
    fields: {code: {type: string}, place: {type: string, required: true}}
  shelved:
    key: [album, shelf]
    scope: everyone
    label: "{album.title} on {shelf.code}"
    fields: {album: {type: ref, ref-type: album, column: album_id}, shelf: {type: ref, ref-type: shelf}, copies: {type: integer, required: true}}
verbs:
  - verb: add-artist
    roles: [clerk]
    args: [{name: name, type: string, required: true}]
    effects: [{creates: artist, set: {name: name}}]
  - verb: add-two
    roles: [clerk]
    effects: [{creates: artist, set: {name: '"Left"'}}, {creates: artist, set: {name: '"Right"'}}]
  - verb: add-album
    roles: [clerk]
    args: [{name: title, type: string, required: true}, {name: artist, type: ref, ref-type: artist, required: true}]
    confirm: [{when: 'title == "Kind of Blue"', reason: it is dear}]
    effects: [{creates: album, set: {title: title, artist: artist}}]
  - verb: add-works
    roles: [clerk]
    args: [{name: name, type: string, required: true}, {name: titles, type: list, of: string, required: true}, {name: code, type: string, required: true}]
    confirm: always
    effects:
      - {creates: artist, as: artist, set: {name: name}}
      - {creates: album, for-each: titles, set: {title: each, artist: artist}}
      - {creates: album, as: best, set: {title: '"Best of"', artist: artist}}
      - {creates: shelf, as: new-shelf, set: {code: code, place: '"anywhere"'}}
      - {creates: shelved, set: {album: best, shelf: new_shelf, copies: 1}}
  - verb: add-shelf
    roles: [clerk]
    args: [{name: code, type: string, required: true}]
    effects: [{creates: shelf, set: {code: code, place: '"anywhere"'}}]
  - verb: shelve
    roles: [clerk]
    args: [{name: album, type: ref, ref-type: album, required: true}, {name: shelf, type: ref, ref-type: shelf, required: true}, {name: copies, type: integer, required: true}]
    effects: [{creates: shelved, set: {album: album, shelf: shelf, copies: copies}}, {notifies: desk, with: {what: ':album', who: album.artist}}]
  - verb: recount
    roles: [clerk]
    args: [{name: shelved, type: ref, ref-type: shelved, required: true}, {name: copies, type: integer, required: true}]
    effects: [{updates: shelved, where: shelved, set: {copies: copies}}]
  - verb: take-away
    roles: [clerk]
    args: [{name: shelved, type: ref, ref-type: shelved, required: true}]
    effects: [{deletes: shelved, where: shelved}]
  - verb: albums
    roles: [clerk]
    args: [{name: artist, type: ref, ref-type: artist}]
    reads: {entity: album, where: artist == nil or row.artist == artist, order: [title], fields: {title: title, by: artist.name, shelved: count(shelved.album)}}
  - verb: shelves
    roles: [clerk]
    args: [{name: shelved, type: ref, ref-type: shelved}]
    reads: {entity: shelved, order: [copies], fields: {what: album.title, where: shelf.place, copies: copies}}
  - verb: named
    roles: [clerk]
    reads: {entity: shelved, order: [copies], fields: {shelved: album+shelf, copies: copies}}
  - verb: one
    roles: [clerk]
    args: [{name: shelved, type: ref, ref-type: shelved, required: true}]
    reads: {entity: shelved, one: shelved, fields: {copies: copies}}
`

// F18: a database gives rows their keys, and later calls of the script know them; the
// caller gives others; and a key may have several parts.
func TestKeysAreTheDatabasesTheCallersOrOfSeveralParts(t *testing.T) {
	t.Parallel()
	onExisting(t, musicSQL, func(t *testing.T, open func(string) *old) {
		o := open(musicPalette).begin()
		o.must(`music.add-artist :name "Ella" :as @ella
			music.add-album :title "Porgy" :artist @ella :as @porgy
			music.add-album :title "Bess" :artist @ella
			music.add-shelf :code "c/d~e" :as @new
			music.shelve :album @porgy :shelf @new :copies 3
			music.shelve :album @porgy :shelf @b-2 :copies 1`)
		o.must("music.add-two")
		if got := len(o.column("artist", "name", "artist_id", stores.Int)); got != 5 {
			t.Errorf("there are %d artists", got)
		}
		if got, want := o.answer("music.albums :artist @ella"), "Bess Ella 0\nPorgy Ella 2"; got != want {
			t.Errorf("albums are\n%s\nwant\n%s", got, want)
		}
		if got, want := fmt.Sprint(o.column("album", "title", "artist_id", stores.Int)), "map[Bess:3 Blue:2 Porgy:3]"; got != want {
			t.Errorf("the column holds %s, want %s", got, want)
		}
		if got, want := o.answer("music.shelves"), "Porgy upstairs 1\nBlue by the door 2\nPorgy anywhere 3"; got != want {
			t.Errorf("shelves are\n%s\nwant\n%s", got, want)
		}
		if got, want := plain(o.answer("music.named")), "@porgy-on-b-2 1\n@blue-on-a-1 2\n@porgy-on-c-d-e 3"; got != want {
			t.Errorf("shelves are called\n%s\nwant\n%s", got, want)
		}
		o.must("music.recount :shelved @porgy-on-c-d-e :copies 7")
		if got := o.answer("music.one :shelved @porgy-on-c-d-e"); got != "7" {
			t.Errorf("there are %s", got)
		}
		o.must("music.take-away :shelved @blue-on-a-1\nmusic.take-away :shelved @porgy-on-b-2")
		if got, want := o.answer("music.shelves"), "Porgy anywhere 7"; got != want {
			t.Errorf("shelves are\n%s\nwant\n%s", got, want)
		}
		o.refused("music.shelve :album @porgy :shelf @c-d-e :copies 1", "already-exists")
		o.refused(`music.add-shelf :code "c/d~e"`, "already-exists")
	})
}

// F18: what a person agreed to is done although somebody else took the number that the
// preview had; and a number that is no key is not taken for the new row.
func TestAgreementsStandWhateverNumberTheDatabaseGives(t *testing.T) {
	t.Parallel()
	onExisting(t, musicSQL, func(t *testing.T, open func(string) *old) {
		o := open(musicPalette).begin()
		ask := `music.add-artist :name "Bill" :as @bill
			music.add-album :title "Kind of Blue" :artist @bill :as @blue
			music.shelve :album @blue :shelf @a-1 :copies 2`
		session, program := o.checked(ask)
		preview, err := session.Preview(t.Context(), program)
		if err != nil {
			t.Fatal(err)
		}
		o.must(`music.add-artist :name "Chet" :as @chet
			music.add-album :title "Chet Sings" :artist @chet`)
		if _, err := session.Run(t.Context(), program, engine.RunOptions{Agreed: preview.ID}); err != nil {
			t.Fatal(err)
		}
		if got, want := o.answer("music.albums"), "Blue Miles 1\nChet Sings Chet 0\nKind of Blue Bill 1"; got != want {
			t.Errorf("albums are\n%s\nwant\n%s", got, want)
		}
		// The next album gets the number of its copies.
		session, program = o.checked(strings.Replace(ask, "Bill", "Paul", 1))
		if preview, err = session.Preview(t.Context(), program); err != nil {
			t.Fatal(err)
		}
		other, changed := o.checked(strings.NewReplacer("Bill", "Paul", ":copies 2", ":copies 3").Replace(ask))
		if _, err := other.Run(t.Context(), changed, engine.RunOptions{Agreed: preview.ID}); err == nil {
			t.Error("another number of copies was taken for what was agreed to")
		}
	})
}

// F18: what a person agreed to is done although the database dates the new row, each time
// it is asked, with another instant.
func TestAgreementsStandWhateverInstantTheDatabaseGives(t *testing.T) {
	t.Parallel()
	onExisting(t, `CREATE TABLE note (id INTEGER PRIMARY KEY, line text NOT NULL, at timestamp NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))); -- sqlite
CREATE TABLE note (id serial PRIMARY KEY, line text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp()); -- postgres
`, func(t *testing.T, open func(string) *old) {
		o := open(`
domain: notes
roles: [{name: clerk, sees: all}]
entities:
  note:
    key: id
    key-by: database
    scope: everyone
    label: "{line}"
    fields: {id: {type: integer}, line: {type: string, required: true}, at: {type: datetime, required: true, default-by: database}}
verbs:
  - verb: add
    roles: [clerk]
    args: [{name: line, type: string, required: true}, {name: at, type: datetime}]
    confirm: always
    effects: [{creates: note, set: {line: line, at: at}}]
`).begin()
		session, program := o.checked(`notes.add :line "It rains"`)
		preview, err := session.Preview(t.Context(), program)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Run(t.Context(), program, engine.RunOptions{Agreed: preview.ID}); err != nil {
			t.Error(err)
		}
		session, program = o.checked(`notes.add :line "It pours" :at 2025-01-02T03:04:05Z`)
		if preview, err = session.Preview(t.Context(), program); err != nil {
			t.Fatal(err)
		}
		other, later := o.checked(`notes.add :line "It pours" :at 2025-01-02T03:04:06Z`)
		if _, err := other.Run(t.Context(), later, engine.RunOptions{Agreed: preview.ID}); err == nil {
			t.Error("another instant was taken for the one that was agreed to")
		}
	})
}

// Effects refer to rows whose keys the database, or the caller, gives; and an agreement
// stands whatever the number comes to.
func TestEffectsReferToRowsThatTheDatabaseNumbers(t *testing.T) {
	t.Parallel()
	onExisting(t, musicSQL, func(t *testing.T, open func(string) *old) {
		o := open(musicPalette).begin()
		s, p := o.checked(`music.add-works :name "Ella" :titles ["Porgy" "Bess"] :code "e/1"`)
		preview, err := s.Preview(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		o.must(`music.add-artist :name "Between"`)
		if _, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: preview.ID}); err != nil {
			t.Fatal(err)
		}
		if got := o.answer(`music.albums :artist @ella`); !strings.Contains(got, "Porgy") || !strings.Contains(got, "Bess") || !strings.Contains(got, "Best of") {
			t.Errorf("of her there is %s", got)
		}
		if got := o.answer(`music.shelves`); !strings.Contains(got, "Best of") {
			t.Errorf("shelved is %s", got)
		}
	})
}
