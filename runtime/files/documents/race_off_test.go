//go:build !race

package documents

// raced is whether the race detector slows everything, children too.
const raced = false
