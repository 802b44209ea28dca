package verbs

import (
	"github.com/expr-lang/expr/ast"

	"verbatim/stores"
)

// Most conditions compare arguments and fields with one another and with
// constants, and no more. For those the library's machine would cost more than
// the comparisons: it makes a list of arguments for each call of a function.
// Such a condition is worked out where it stands, by the same functions that
// the machine would call; every other is the machine's.

// A simple is a condition, or a part of one, that needs no machine.
type simple struct {
	op   simpleOp
	l, r *simple   // of and, or; l of not
	a, b simpleArg // of the others; a of bool and present
}

type simpleOp uint8

const (
	simpleAnd simpleOp = iota
	simpleOr
	simpleNot
	simpleBool
	simplePresent
	simpleEq
	simpleNe
	simpleLt
	simpleLe
	simpleGt
	simpleGe
)

var simpleOps = map[string]simpleOp{
	"bool": simpleBool, "present": simplePresent,
	"eq": simpleEq, "ne": simpleNe, "lt": simpleLt, "le": simpleLe, "gt": simpleGt, "ge": simpleGe,
}

// A simpleArg is a slot, or the constant value.
type simpleArg struct {
	slot  *slot
	value stores.Value
}

// simpleOf returns what a tree that the checker made is without a machine, nil
// when it needs one.
func simpleOf(n ast.Node, slots []slot) *simple {
	switch n := n.(type) {
	case *ast.BinaryNode:
		p := &simple{op: simpleAnd, l: simpleOf(n.Left, slots), r: simpleOf(n.Right, slots)}
		if n.Operator == "or" {
			p.op = simpleOr
		} else if n.Operator != "and" {
			return nil
		}
		if p.l != nil && p.r != nil {
			return p
		}
	case *ast.UnaryNode:
		if inner := simpleOf(n.Node, slots); inner != nil && n.Operator == "not" {
			return &simple{op: simpleNot, l: inner}
		}
	case *ast.CallNode:
		name, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			return nil
		}
		op, ok := simpleOps[name.Value]
		if !ok {
			return nil
		}
		p := &simple{op: op}
		for i, into := range []*simpleArg{&p.a, &p.b}[:len(n.Arguments)] {
			if *into, ok = simpleArgOf(n.Arguments[i], slots); !ok {
				return nil
			}
		}
		return p
	}
	return nil
}

func simpleArgOf(n ast.Node, slots []slot) (simpleArg, bool) {
	switch n := n.(type) {
	case *ast.ConstantNode:
		v, ok := n.Value.(*stores.Value)
		if !ok {
			return simpleArg{}, false
		}
		return simpleArg{value: *v}, true
	case *ast.IdentifierNode:
		for i := range slots {
			if slotNames[i] == n.Value {
				return simpleArg{slot: &slots[i]}, true
			}
		}
	}
	return simpleArg{}, false
}

func (a *simpleArg) in(env *Env) stores.Value {
	if a.slot != nil {
		return a.slot.value(env)
	}
	return a.value
}

// holds works the condition out.
func (p *simple) holds(env *Env) (bool, error) {
	switch p.op {
	case simpleAnd, simpleOr:
		l, err := p.l.holds(env)
		if err != nil || l == (p.op == simpleOr) {
			return l, err
		}
		return p.r.holds(env)
	case simpleNot:
		holds, err := p.l.holds(env)
		return !holds, err
	case simpleBool:
		return p.a.in(env).Bool(), nil
	case simplePresent:
		return !p.a.in(env).IsNull(), nil
	case simpleEq:
		return stores.Equal(p.a.in(env), p.b.in(env)), nil
	case simpleNe:
		return !stores.Equal(p.a.in(env), p.b.in(env)), nil
	}
	n, err := order(p.a.in(env), p.b.in(env))
	if err != nil {
		return false, err
	}
	switch p.op {
	case simpleLt:
		return n < 0, nil
	case simpleLe:
		return n <= 0, nil
	case simpleGt:
		return n > 0, nil
	}
	return n >= 0, nil
}
