//go:build race

package verbs

// patience multiplies limits of time under the race detector.
const patience = 20
