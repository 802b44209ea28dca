// Package runtime does what a checked script says. It permits, resolves
// references within scope, asks where a palette says to ask, carries calls out
// as changes that are plain values, holds every change against what the verb
// promised, and commits changes, journal and notices in one transaction.
//
//	text ─dsl.Parse→ Script ─verbs.Check→ Program ─Session.Run→ Reply
//
// The package knows no domain: what YAML cannot say of one is a handler,
// registered by the domain's own package and joined to the engine in cmd.
package runtime
