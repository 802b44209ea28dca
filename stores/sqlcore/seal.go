package sqlcore

import (
	"sync"

	"verbatim/stores"
	"verbatim/stores/merkle"
)

// A Sealer remembers the tree of a log from one pass to the next, so that a pass reads no leaves
// but those that it adds. Another process may have added others since.
type Sealer struct {
	mu   sync.Mutex
	tree *merkle.Tree
}

// Tree returns the tree of a log with this last root, to be appended to. It is loaded from the
// log's leaves unless it is the one remembered; leaves that do not give the root are an error.
func (s *Sealer) Tree(last stores.Root, from merkle.Source) (*merkle.Tree, error) {
	s.mu.Lock()
	tree := s.tree
	s.mu.Unlock()
	if tree != nil && tree.Len() == last.Size && tree.Root() == last.Hash {
		return tree.Clone(), nil
	}
	if last.Size == 0 {
		return merkle.New(), nil
	}
	tree, err := merkle.Load(last.Size, from)
	if err == nil && tree.Root() != last.Hash {
		err = &stores.LogError{Size: last.Size, Msg: "is not that of its leaves"}
	}
	return tree, err
}

// Keep remembers the tree of a log to which a transaction has added leaves, once it is committed.
// It does not change any more.
func (s *Sealer) Keep(tree *merkle.Tree) {
	s.mu.Lock()
	if s.tree == nil || s.tree.Len() <= tree.Len() {
		s.tree = tree
	}
	s.mu.Unlock()
}

// Chain is the end of the older chain: the number and hash of its last entry, zero without any.
type Chain struct {
	Seq  int64
	Hash [32]byte
}

// Place appends the leaves of entries to a tree, in their order, and returns them. A new tree
// begins with the leaf of the older chain.
func Place(tree *merkle.Tree, chain Chain, entries []stores.Entry) (leaves []stores.Leaf) {
	add := func(seq int64, body [32]byte) {
		leaves = append(leaves, stores.Leaf{Seq: seq, Row: tree.Append(stores.LeafHash(seq, body))})
	}
	if tree.Len() == 0 {
		add(chain.Seq, chain.Hash)
	}
	for i := range entries {
		add(entries[i].Seq, entries[i].Body)
	}
	return leaves
}
