//go:build race

package dsl

// underRace says that the race detector slows everything down.
const underRace = true
