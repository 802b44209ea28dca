package dsl

// A Node is what Walk visits: exactly one of its three pointers is set. They
// point into the script, which is read-only.
type Node struct {
	Call  *Call
	Arg   *Arg   // an argument, or an entry of a map
	Value *Value // the value of the argument visited before, or an item of a list
}

// Walk visits the calls of a script in the order written, each with its arguments, values and
// nested calls before the next. If visit returns false, it skips the inside of that node.
func Walk(s *Script, visit func(Node) bool) {
	for i := range s.Calls {
		WalkCall(&s.Calls[i], visit)
	}
}

// WalkCall is Walk for a single call.
func WalkCall(c *Call, visit func(Node) bool) {
	if visit(Node{Call: c}) {
		walkArgs(c.Args, visit)
	}
}

// WalkValue is Walk for a single value.
func WalkValue(v *Value, visit func(Node) bool) {
	if !visit(Node{Value: v}) {
		return
	}
	items := v.Items()
	for i := range items {
		WalkValue(&items[i], visit)
	}
	walkArgs(v.Entries(), visit)
	if c := v.Call(); c != nil {
		WalkCall(c, visit)
	}
}

func walkArgs(args []Arg, visit func(Node) bool) {
	for i := range args {
		if visit(Node{Arg: &args[i]}) {
			WalkValue(&args[i].Value, visit)
		}
	}
}

// Replace returns a call with some of its values replaced: with returns the replacement for the
// value of an argument, or for a part of it, and true, or false to keep it. The arguments of
// nested calls are passed with their own call and key. A call in which nothing is replaced is
// returned unchanged; otherwise the copy shares with it what was not replaced.
func Replace(c *Call, with func(of *Call, key string, v *Value) (Value, bool)) *Call {
	var args []Arg
	for i := range c.Args {
		a := &c.Args[i]
		v, replaced := replace(c, a.Key, &a.Value, with)
		if !replaced {
			continue
		}
		if args == nil {
			args = append(args, c.Args...)
		}
		args[i].Value = v
	}
	if args == nil {
		return c
	}
	copied := *c
	copied.Args = args
	return &copied
}

func replace(of *Call, key string, v *Value, with func(of *Call, key string, v *Value) (Value, bool)) (Value, bool) {
	if out, replaced := with(of, key, v); replaced {
		return out, true
	}
	switch v.Kind {
	case Nested:
		inner := v.Call()
		if out := Replace(inner, with); out != inner {
			return NewNested(*out), true
		}
	case List:
		var copied []Value
		items := v.Items()
		for i := range items {
			if out, replaced := replace(of, key, &items[i], with); replaced {
				if copied == nil {
					copied = append(copied, items...)
				}
				copied[i] = out
			}
		}
		if copied != nil {
			return NewList(copied...), true
		}
	case Map:
		var copied []Arg
		entries := v.Entries()
		for i := range entries {
			if out, replaced := replace(of, key, &entries[i].Value, with); replaced {
				if copied == nil {
					copied = append(copied, entries...)
				}
				copied[i].Value = out
			}
		}
		if copied != nil {
			return NewMap(copied...), true
		}
	}
	return Value{}, false
}
