package sqlcore

// Because gives an error the text and the identity of one of package stores, and keeps the
// cause for errors.As. The text is that of the first alone: users may see it.
func Because(ours, cause error) error { return &caused{ours, cause} }

type caused struct{ ours, cause error }

func (c *caused) Error() string   { return c.ours.Error() }
func (c *caused) Unwrap() []error { return []error{c.ours, c.cause} }
