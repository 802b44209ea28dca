package main

import (
	"fmt"
	"io"
	"strings"
)

// writeDiff prints how a text becomes another, in the unified format of patch.
func writeDiff(w io.Writer, name, how, before, after string) {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	if a[len(a)-1] == "" {
		a = a[:len(a)-1]
	}
	if b[len(b)-1] == "" {
		b = b[:len(b)-1]
	}
	fmt.Fprintf(w, "--- %s\n+++ %s (%s)\n", name, name, how)
	const context = 3
	steps := align(a, b)
	for at := 0; at < len(steps); {
		if steps[at].op == ' ' {
			at++
			continue
		}
		// Changes that are close together share a hunk.
		from, to := max(0, at-context), at
		for i := at; i < len(steps) && i <= to+2*context; i++ {
			if steps[i].op != ' ' {
				to = i
			}
		}
		to = min(len(steps), to+1+context)
		var inA, inB int
		for _, s := range steps[from:to] {
			if s.op != '+' {
				inA++
			}
			if s.op != '-' {
				inB++
			}
		}
		fmt.Fprintf(w, "@@ -%s +%s @@\n", extent(steps[from].a, inA), extent(steps[from].b, inB))
		for _, s := range steps[from:to] {
			line := strings.TrimSuffix(s.line, "\n")
			fmt.Fprintf(w, "%c%s\n", s.op, line)
			if line == s.line {
				fmt.Fprintln(w, `\ No newline at end of file`)
			}
		}
		at = to
	}
}

// extent is the position of a hunk as diff writes it.
func extent(start, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", start)
	}
	return fmt.Sprintf("%d,%d", start+1, n)
}

// A step keeps, drops or adds a line; a and b are the lines before it.
type step struct {
	op   byte
	line string
	a, b int
}

// align finds a shortest edit from a to b. It sets the common beginning and end aside and fills a
// table of longest common subsequences for the rest. If the table would be large, it replaces the
// whole rest.
func align(a, b []string) []step {
	const largest = 4 << 20
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	n, m := len(a)-tail-head, len(b)-tail-head
	// common(i, j) is the length of the longest common subsequence of a[i:] and b[j:].
	var table []int32
	if n*m <= largest {
		table = make([]int32, (n+1)*(m+1))
	}
	common := func(i, j int) *int32 { return &table[(i-head)*(m+1)+(j-head)] }
	if table != nil {
		for i := head + n - 1; i >= head; i-- {
			for j := head + m - 1; j >= head; j-- {
				if a[i] == b[j] {
					*common(i, j) = *common(i+1, j+1) + 1
				} else {
					*common(i, j) = max(*common(i+1, j), *common(i, j+1))
				}
			}
		}
	}
	steps := make([]step, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		inside := i >= head && j >= head && (i < head+n || j < head+m)
		switch {
		case !inside, table != nil && i < head+n && j < head+m && a[i] == b[j]:
			steps = append(steps, step{' ', a[i], i, j})
			i, j = i+1, j+1
		case i < head+n && (j >= head+m || table == nil || *common(i+1, j) >= *common(i, j+1)):
			steps = append(steps, step{'-', a[i], i, j})
			i++
		default:
			steps = append(steps, step{'+', b[j], i, j})
			j++
		}
	}
	return steps
}
