package dsl

import "slices"

// This file collects elements whose number is not known in advance, and stores them: with almost
// no allocation, and memory at most a small multiple of the text, whatever the text.

// growFor makes room for more elements, each of which takes about per bytes of text, and for at
// least two. While they are few, it allocates about as many as the rest of the text may hold,
// since most texts are one short call; later it estimates their number from how many there were
// in the first read bytes of whole, so that a uniform text is allocated about once.
func growFor[T any](s []T, read, whole, per, most int) []T {
	n := len(s)
	guess := 2*n + min(256, max(0, whole-read)/per) + min(n, 3) + 1
	if n >= 512 {
		guess = max(n+n/2, int(float64(n)*float64(whole)/float64(max(read, 1))*1.02)+8)
	}
	guess = max(n+1, min(guess, n+(whole-read)/2+8, most+1))
	grown := make([]T, n, guess)
	copy(grown, s)
	return grown
}

// takeArgs takes the elements collected since base off the stack. If almost nothing lies below,
// as for every top-level call, they are handed out in place and the stack continues behind them;
// otherwise they are copied.
func (p *parser) takeArgs(base int) []Arg {
	out, stack, slab := take(p.args, base, p.argSlab, (len(p.text)-p.pos)/24)
	p.args, p.argSlab = stack, slab
	return out
}

func (p *parser) takeVals(base int) []Value {
	out, stack, slab := take(p.vals, base, p.valSlab, (len(p.text)-p.pos)/64)
	p.vals, p.valSlab = stack, slab
	return out
}

func take[T any](stack []T, base int, slab []T, guess int) (out, newStack, newSlab []T) {
	n := len(stack) - base
	switch {
	case n == 0:
		return nil, stack, slab
	case base <= n/8:
		return stack[base : base+n : base+n], append(stack[base+n:], stack[:base]...), slab
	case n > len(slab):
		if n >= 1024 {
			return slices.Clone(stack[base:]), stack[:base], slab
		}
		slab = make([]T, max(n, min(256, guess+1)))
	}
	copy(slab, stack[base:])
	return slab[:n:n], stack[:base], slab[n:]
}
