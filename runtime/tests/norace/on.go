//go:build race

package norace

const on = true
