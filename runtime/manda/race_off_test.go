//go:build !race

package manda_test

const underRace = false
