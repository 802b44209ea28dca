// Package merkle is the tree of the sealed log: an append-only Merkle tree as RFC 9162 hashes it.
//
//	tree := merkle.New()
//	nodes := tree.Append(leaf)
//	root := tree.Root()
//
// A leaf's row holds its hash and, behind it, the hash of each subtree that the leaf completes, from
// the smallest to the largest. On average that are two hashes. So every complete subtree stands in
// one row, which can be computed from its place, and a proof reads as many rows as it has hashes.
package merkle

import (
	"errors"
	"fmt"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

// Size is the size of a hash in bytes.
const Size = 32

// A Hash is that of a leaf, of a subtree, or of all of a tree.
type Hash = [Size]byte

var factory = compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}

// Leaf returns the hash of a leaf with these data.
func Leaf(data []byte) Hash { return Hash(rfc6962.DefaultHasher.HashLeaf(data)) }

// A Tree is what has to be known of a tree to append to it. It is for one goroutine.
type Tree struct{ r *compact.Range }

// New begins an empty tree.
func New() *Tree { return &Tree{factory.NewEmptyRange(0)} }

// A Node is the place of a subtree: it is the hash numbered At in the row of the leaf numbered Row,
// both from 0.
type Node struct {
	Row int64
	At  int
}

func nodeOf(id compact.NodeID) Node {
	_, end := id.Coverage()
	return Node{int64(end) - 1, int(id.Level)}
}

func nodesOf(ids []compact.NodeID) []Node {
	nodes := make([]Node, len(ids))
	for i, id := range ids {
		nodes[i] = nodeOf(id)
	}
	return nodes
}

// A Source returns the hashes of nodes, in their order.
type Source func([]Node) ([]Hash, error)

// Rows makes a Source of rows of leaves, which read returns by the numbers of the leaves.
func Rows(read func(rows []int64) (map[int64][]byte, error)) Source {
	return func(nodes []Node) ([]Hash, error) {
		var rows []int64
		for _, n := range nodes {
			rows = append(rows, n.Row)
		}
		found, err := read(rows)
		if err != nil {
			return nil, err
		}
		hashes := make([]Hash, len(nodes))
		for i, n := range nodes {
			row := found[n.Row]
			if len(row) < (n.At+1)*Size {
				return nil, fmt.Errorf("leaf %d of the log is missing, or lacks hashes", n.Row)
			}
			hashes[i] = Hash(row[n.At*Size : (n.At+1)*Size])
		}
		return hashes, nil
	}
}

// Load returns the tree of the first size leaves of a log.
func Load(size int64, from Source) (*Tree, error) {
	hashes, err := from(nodesOf(compact.RangeNodes(0, uint64(size), nil)))
	if err != nil {
		return nil, err
	}
	r, err := factory.NewRange(0, uint64(size), raw(hashes))
	return &Tree{r}, err
}

func raw(hashes []Hash) [][]byte {
	all := make([][]byte, len(hashes))
	for i := range hashes {
		all[i] = hashes[i][:]
	}
	return all
}

func hashes(all [][]byte) []Hash {
	hashes := make([]Hash, len(all))
	for i := range all {
		hashes[i] = Hash(all[i])
	}
	return hashes
}

// Clone returns a copy.
func (t *Tree) Clone() *Tree {
	hashes := append([][]byte(nil), t.r.Hashes()...)
	r, err := factory.NewRange(0, t.r.End(), hashes)
	if err != nil {
		panic(err) // a range has as many hashes as it needs
	}
	return &Tree{r}
}

// Len returns the number of leaves.
func (t *Tree) Len() int64 { return int64(t.r.End()) }

// Append appends a leaf and returns its row.
func (t *Tree) Append(leaf Hash) (row []byte) {
	err := t.r.Append(leaf[:], func(_ compact.NodeID, hash []byte) { row = append(row, hash...) })
	if err != nil {
		panic(err) // a range has as many hashes as it needs
	}
	return row
}

// Root returns the hash of the tree.
func (t *Tree) Root() Hash {
	root, err := t.r.GetRootHash(nil)
	if err != nil || root == nil {
		root = rfc6962.DefaultHasher.EmptyRoot()
	}
	return Hash(root)
}

// Inclusion proves that the leaf numbered index, from 0, is in the tree of the first size leaves.
func Inclusion(index, size int64, from Source) ([]Hash, error) {
	if index < 0 || size < 0 {
		return nil, errors.New("a place in a log is not negative")
	}
	nodes, err := proof.Inclusion(uint64(index), uint64(size))
	return proven(nodes, err, from)
}

// Consistency proves that the tree of the first size leaves extends that of the first was leaves.
func Consistency(was, size int64, from Source) ([]Hash, error) {
	if was < 0 || size < 0 {
		return nil, errors.New("a size of a log is not negative")
	}
	nodes, err := proof.Consistency(uint64(was), uint64(size))
	return proven(nodes, err, from)
}

func proven(nodes proof.Nodes, err error, from Source) ([]Hash, error) {
	if err != nil {
		return nil, err
	}
	found, err := from(nodesOf(nodes.IDs))
	if err != nil {
		return nil, err
	}
	all, err := nodes.Rehash(raw(found), rfc6962.DefaultHasher.HashChildren)
	return hashes(all), err
}

// Included checks a proof of Inclusion.
func Included(index, size int64, leaf Hash, path []Hash, root Hash) error {
	return proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(size), leaf[:], raw(path), root[:])
}

// Extends checks a proof of Consistency.
func Extends(was, size int64, path []Hash, old, root Hash) error {
	return proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(was), uint64(size), raw(path), old[:], root[:])
}
