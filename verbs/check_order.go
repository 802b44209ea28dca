package verbs

import (
	"slices"

	"verbatim/dsl"
)

// arrange determines which calls each call needs and in which order calls can run: as written,
// except that a call waits for the results it uses. It reports calls that wait for one another.
func (c *checker) arrange() {
	p := c.p
	n := len(p.calls)
	p.order = slices.Grow(p.order, n)[:n]
	backwards := true
	for i := range p.order {
		p.order[i] = i
	}
	for _, e := range p.edges {
		backwards = backwards && e.to < e.from
	}
	if len(p.edges) == 0 {
		return
	}
	c.needs()
	if !backwards {
		c.topological()
	}
}

// needs fills Call.Needs from the edges, ascending and without repetition, by
// counting: it stays linear for a call that is used a hundred thousand times.
func (c *checker) needs() {
	p := c.p
	n := len(p.calls)
	starts := p.scratch(n + 1)
	for _, e := range p.edges {
		starts[e.from+1]++
	}
	for i := range n {
		starts[i+1] += starts[i]
	}
	p.needs = slices.Grow(p.needs, len(p.edges))[:len(p.edges)]
	for _, e := range p.edges {
		p.needs[starts[e.from]] = e.to
		starts[e.from]++
	}
	start := 0
	for i := range n {
		end := starts[i] // moved to the end of its run by the loop above
		if needs := p.needs[start:end:end]; len(needs) > 0 {
			slices.Sort(needs)
			p.calls[i].Needs = slices.Compact(needs)
		}
		start = end
	}
}

// scratch returns n zeroed ints of the program's spare memory.
func (p *Program) scratch(n int) []int {
	p.ints = slices.Grow(p.ints[:0], n)[:n]
	clear(p.ints)
	return p.ints
}

// topological sorts by Kahn's method, always taking the earliest call that is
// ready, so that the order departs from the text only where it must.
func (c *checker) topological() {
	p := c.p
	n := len(p.calls)
	spare := p.scratch(4*n + 1 + len(p.needs))
	waits, starts := spare[:n], spare[n:2*n+1]
	ready, users := spare[2*n+1:2*n+1:3*n+1], spare[4*n+1:]
	for i := range p.calls {
		for _, need := range p.calls[i].Needs {
			waits[i]++
			starts[need+1]++
		}
	}
	for i := range n {
		starts[i+1] += starts[i]
	}
	fill := spare[3*n+1 : 4*n+1]
	for i := range p.calls {
		for _, need := range p.calls[i].Needs {
			users[starts[need]+fill[need]] = i
			fill[need]++
		}
	}
	for i := range n {
		if waits[i] == 0 {
			ready = push(ready, i)
		}
	}
	p.order = p.order[:0]
	for len(ready) > 0 {
		var i int
		i, ready = pop(ready)
		p.order = append(p.order, i)
		for _, user := range users[starts[i]:starts[i+1]] {
			if waits[user]--; waits[user] == 0 {
				ready = push(ready, user)
			}
		}
	}
	if len(p.order) < n {
		c.cycles(waits)
	}
}

// push and pop maintain a heap of ints, least first. container/heap would allocate for each.
func push(heap []int, x int) []int {
	heap = append(heap, x)
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if heap[parent] <= heap[i] {
			break
		}
		heap[parent], heap[i] = heap[i], heap[parent]
		i = parent
	}
	return heap
}

func pop(heap []int) (int, []int) {
	least := heap[0]
	last := len(heap) - 1
	heap[0] = heap[last]
	heap = heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && heap[child+1] < heap[child] {
			child++
		}
		if heap[i] <= heap[child] {
			break
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
	return least, heap
}

// cycles reports each cycle of calls once. Calls that only wait for a cycle are not at fault and
// are not reported.
func (c *checker) cycles(waits []int) {
	p := c.p
	const seen = -1
	path := make([]int, 0, 16)
	on := make(map[int]int, 16) // call to its index in path
	for start := range p.calls {
		path = path[:0]
		clear(on)
		for at := start; waits[at] > 0; {
			if i, ring := on[at]; ring {
				c.cycle(path[i:])
				break
			}
			on[at] = len(path)
			path = append(path, at)
			next := -1
			for _, need := range p.calls[at].Needs {
				if waits[need] > 0 {
					next = need
					break
				}
			}
			if next < 0 {
				break
			}
			at = next
		}
		for _, i := range path {
			waits[i] = seen
		}
	}
}

func (c *checker) cycle(ring []int) {
	// Begin with the call that comes first, so that the same script always gets the same message.
	first := 0
	for i := range ring {
		if ring[i] < ring[first] {
			first = i
		}
	}
	links := make([]link, len(ring))
	for i := range ring {
		call := ring[(first+i)%len(ring)]
		need := ring[(first+i+1)%len(ring)]
		links[i] = link{verb: c.p.calls[call].Syntax.Verb, place: c.place(c.p.calls[call].Syntax.VerbRange), needs: c.boundName(need)}
	}
	c.add(cycleOfCalls(links))
}

// A link of a cycle is a call and the name whose value it waits for.
type link struct {
	verb  string
	place dsl.Place
	needs string // "" for a call nested in it
}

func (c *checker) boundName(call int) string { return c.p.calls[call].Syntax.As }

// unused warns about names that nothing uses.
func (c *checker) unused() {
	for i := range c.p.bindings {
		if b := &c.p.bindings[i]; !b.used {
			c.add(tell(c.place(b.as.AsRange), "unused-binding", b.name))
		}
	}
}
