package a2a

import "context"

// Noticed checks all tasks that have push addresses, as Notify does from time to time.
func (a *Agents) Noticed(ctx context.Context) error {
	return a.noticed(ctx, func(string) bool { return true })
}
