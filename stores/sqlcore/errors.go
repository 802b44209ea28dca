package sqlcore

import "verbatim/stores"

// Because returns one of our errors, from package stores, that also wraps its cause, for
// errors.As. Its text is that of our error alone, since users may see it.
func Because(ours, cause error) error { return &caused{ours, cause} }

type caused struct{ ours, cause error }

func (c *caused) Error() string   { return c.ours.Error() }
func (c *caused) Unwrap() []error { return []error{c.ours, c.cause} }

// KeptBack says that a trigger left a row as it was, which the change found.
func KeptBack(e *stores.Entity) error {
	return Because(stores.ErrInvalid, &stores.Refused{Why: stores.RuledOut, Code: "no row was changed", Table: e.Table, Entity: e})
}
