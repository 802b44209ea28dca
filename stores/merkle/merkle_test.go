package merkle

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// Trees, proofs of inclusion and proofs of consistency are what another implementation makes and
// accepts, at every size up to 70, whether a tree grew in one go or was loaded from its rows before
// each leaf.
func TestAnotherImplementationAgrees(t *testing.T) {
	t.Parallel()
	const most = 70
	rows := map[int64][]byte{}
	from := Rows(func(want []int64) (map[int64][]byte, error) { return rows, nil })
	tree := New()
	roots := []Hash{tree.Root()}
	var leaves []Hash
	for n := range int64(most) {
		data := fmt.Appendf(nil, "leaf %d", n)
		leaf := Leaf(data)
		if tlog.Hash(leaf) != tlog.RecordHash(data) {
			t.Fatalf("leaf %d is hashed in another way", n)
		}
		loaded, err := Load(n, from)
		if err != nil || loaded.Root() != roots[n] || loaded.Len() != n {
			t.Fatalf("loaded at %d: %v", n, err)
		}
		clone := tree.Clone()
		rows[n] = tree.Append(leaf)
		if again := loaded.Append(leaf); string(again) != string(rows[n]) {
			t.Fatalf("row %d of a loaded tree differs", n)
		}
		clone.Append(leaf)
		if clone.Root() != tree.Root() {
			t.Fatalf("a clone of %d grows in another way", n)
		}
		leaves, roots = append(leaves, leaf), append(roots, tree.Root())
	}
	for size := int64(1); size <= most; size++ {
		root := tlog.Hash(roots[size])
		for was := int64(1); was <= size; was++ {
			path, err := Consistency(was, size, from)
			if err != nil {
				t.Fatal(err)
			}
			proof := make(tlog.TreeProof, len(path))
			for i := range path {
				proof[i] = path[i]
			}
			if err := tlog.CheckTree(proof, size, root, was, tlog.Hash(roots[was])); err != nil {
				t.Errorf("from %d to %d: %v", was, size, err)
			}
			if err := Extends(was, size, path, roots[was], roots[size]); err != nil {
				t.Errorf("from %d to %d: %v", was, size, err)
			}
			if was < size && Extends(was, size, path, roots[was-1], roots[size]) == nil {
				t.Errorf("from another root than that of %d to %d", was, size)
			}
		}
		for index := range size {
			path, err := Inclusion(index, size, from)
			if err != nil {
				t.Fatal(err)
			}
			proof := make(tlog.RecordProof, len(path))
			for i := range path {
				proof[i] = path[i]
			}
			if err := tlog.CheckRecord(proof, size, root, index, tlog.Hash(leaves[index])); err != nil {
				t.Errorf("%d of %d: %v", index, size, err)
			}
			if err := Included(index, size, leaves[index], path, roots[size]); err != nil {
				t.Errorf("%d of %d: %v", index, size, err)
			}
			if Included(index, size, sha256.Sum256(leaves[index][:]), path, roots[size]) == nil {
				t.Errorf("%d of %d: another leaf is accepted", index, size)
			}
		}
	}
}

// Places that are none, and rows that are missing or too short, are errors.
func TestWhatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	tree, rows := New(), map[int64][]byte{}
	for n := range int64(8) {
		rows[n] = tree.Append(Leaf([]byte{byte(n)}))
	}
	from := Rows(func([]int64) (map[int64][]byte, error) { return rows, nil })
	for _, c := range [][2]int64{{8, 8}, {-1, 8}, {0, 0}} {
		if _, err := Inclusion(c[0], c[1], from); err == nil {
			t.Errorf("%d of %d is proven", c[0], c[1])
		}
	}
	if _, err := Consistency(9, 8, from); err == nil {
		t.Error("a longer tree is extended by a shorter one")
	}
	rows[3] = rows[3][:Size]
	if _, err := Load(4, from); err == nil {
		t.Error("a row without its subtrees is taken")
	}
	delete(rows, 7)
	if _, err := Inclusion(0, 8, from); err == nil {
		t.Error("a missing row is taken")
	}
}
