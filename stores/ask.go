package stores

import "context"

// An Ask is one of several reads that are asked for together: a Find where it has
// one, and the rows of some keys otherwise.
type Ask struct {
	Find *Find // with Lists on a snapshot only, and Last only where it comes last

	Entity *Entity
	Keys   []Value

	Found [][]Value // what the Find answers
	Rows  []Row     // what Reader.Rows answers of the keys
}

// OneByOne carries out what is asked for together as one read after another, for
// a store that gains nothing by getting it in one round trip.
func OneByOne(ctx context.Context, r Reader, asks []Ask) (err error) {
	for i := range asks {
		if a := &asks[i]; a.Find != nil {
			a.Found, err = r.Find(ctx, *a.Find)
		} else {
			a.Rows, err = r.Rows(ctx, a.Entity, a.Keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
