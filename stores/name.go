package stores

// A Name is what a row is called, or once was. Stores keep names in a table of
// their own, beside the tables of rows, so that a name is found by one look-up and
// a table of others is never altered. A name that was kept is never taken away:
// it goes on meaning its row, also when the row is called otherwise or is gone.
type Name struct {
	Entity *Entity
	Key    Value
	Plain  string // "pierre-dupont-source-of-wealth"; several rows may have it
	Suffix string // belongs to the row, and is the same in all its names
	// Owner is the owner of the row when it got the name: the text of the key at
	// the end of its scope path, or the name of the principal whose row it is. It is
	// "" for reference data.
	Owner string
}

// A NameQuery asks for names of rows of one entity: by what they are called, by
// the beginning of their suffix, or by their keys, whichever is set. Behind, where it is
// set, asks for all of them, of rows that are gone as well, a page at a time: Most names
// behind one, in the order of their words, their owners and their keys.
type NameQuery struct {
	Behind *Name
	Entity *Entity
	Plain  []string
	Suffix string
	Keys   []Value
	// Owners leaves out names of rows of other owners; nil leaves out none.
	Owners []string
	// Most bounds the rows for each name in Plain, and for Suffix.
	Most int
}

// A NameAsk is a NameQuery whose answer comes with the commit.
type NameAsk struct {
	NameQuery
	Into *[]Name
}

// An Identity is what tells one store from another. It is made when a store is
// migrated for the first time, and a copy of the store has it too.
type Identity struct {
	ID     string
	Secret []byte // known to nobody outside the store: suffixes of names are made with it
}
