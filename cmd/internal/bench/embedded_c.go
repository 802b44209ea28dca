//go:build cgo

package main

// withC says that the C library of SQLite is in this program.
const withC = true
