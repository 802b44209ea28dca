//go:build !linux

package main

import "verbatim/runtime/tests/norace"

// launcher is the program itself where no workers are.
var launcher = norace.Binary

func dismissWorkers() {}

func work() {}
