package stores

import (
	"slices"
	"testing"
)

// What going back comes to is read off the statements of a plan, in both dialects.
func TestGoingBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step          string
		stays, barred []string
	}{
		{`ALTER TABLE "public"."item" ADD COLUMN "state" text NOT NULL DEFAULT 'kept'`, []string{"column public.item.state"}, nil},
		{`ALTER TABLE "item" ADD COLUMN "parent" TEXT`, []string{"column item.parent"}, nil},
		{`CREATE TABLE "item" ("id" TEXT)`, []string{"table item"}, nil},
		{`CREATE INDEX "item_name" ON "item" ("name")`, nil, nil},
		{`ALTER TABLE "public"."item" ADD COLUMN "must" text NOT NULL`, nil, []string{"column public.item.must takes no null and has no default: rows of the program of before are refused"}},
		{`ALTER TABLE "item" RENAME COLUMN "name" TO "title"`, nil, []string{"table item or a column of it is renamed"}},
		{`ALTER TABLE "item" DROP COLUMN "name"`, nil, []string{`something is dropped: ALTER TABLE item DROP COLUMN name`}},
		{`UPDATE public.verbatim_schema SET version = 5`, nil, []string{"the store gets version 5, which the program of before refuses"}},
	} {
		p := Plan{Steps: []string{c.step, c.step}}
		stays, barred := p.Back()
		if !slices.Equal(slices.Compact(stays), c.stays) || !slices.Equal(barred, c.barred) {
			t.Errorf("%s: %q, %q", c.step, stays, barred)
		}
	}
	p := Plan{DataChanges: []DataChange{{Kind: RenameCode, Entity: "item", From: "OPEN", To: "BEGUN"}, {Kind: Backfill, Entity: "item"}}}
	if _, barred := p.Back(); len(barred) != 1 {
		t.Errorf("%q", barred)
	}
}
