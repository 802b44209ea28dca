package sqlcore

// Because returns an error that is ours, one of package stores, and wraps the cause too, for
// errors.As. Its text is that of ours alone, since users may see it.
func Because(ours, cause error) error { return &caused{ours, cause} }

type caused struct{ ours, cause error }

func (c *caused) Error() string   { return c.ours.Error() }
func (c *caused) Unwrap() []error { return []error{c.ours, c.cause} }
