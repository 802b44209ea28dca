package stores

// A Name is a present or former name of a row. Stores keep names in a table of their own, beside
// the tables of rows, so that one look-up finds a name and existing tables are never altered. A
// name is never deleted: it goes on meaning its row after the row is renamed or deleted.
type Name struct {
	Entity *Entity
	Key    Value
	Plain  string // "pierre-dupont-source-of-wealth"; several rows may have it
	Suffix string // belongs to the row, and is the same in all its names
	// Owner is the owner of the row when it got the name: the text of the key at the end of its
	// scope path, or the name of the principal who owns the row. It is "" for reference data.
	Owner string
}

// A NameQuery asks for names of rows of one entity: by the plain name, by the beginning of the
// suffix, or by key, whichever is set. Behind, if it is set, asks for all names, also of deleted
// rows, a page at a time: Most names after Behind, in the order of their words, owners and keys.
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

// A NameAsk is a NameQuery that is answered with the commit.
type NameAsk struct {
	NameQuery
	Into *[]Name
}

// An Identity distinguishes one store from another. It is made when a store is migrated for the
// first time; a copy of the store has the same one.
type Identity struct {
	ID     string
	Secret []byte // known to nobody outside the store: suffixes of names are made with it
	// Place tells a copy from the store: a server and its database, whatever their address. "" if
	// that is not known.
	Place string
	// Tells reports whether the store notices by itself that its rows were put back from a dump or
	// that another server took over, and Restored that this happened since Settle was last called.
	Tells, Restored bool
}
