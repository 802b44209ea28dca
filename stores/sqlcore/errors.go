package sqlcore

// Because returns one of our errors, from package stores, that also wraps its cause, for
// errors.As. Its text is that of our error alone, since users may see it.
func Because(ours, cause error) error { return &caused{ours, cause} }

type caused struct{ ours, cause error }

func (c *caused) Error() string   { return c.ours.Error() }
func (c *caused) Unwrap() []error { return []error{c.ours, c.cause} }
