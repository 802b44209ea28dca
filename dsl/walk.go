package dsl

// A Node is what Walk visits: exactly one of its three pointers is set. They
// point into the script, which is read-only.
type Node struct {
	Call  *Call
	Arg   *Arg   // an argument, or an entry of a map
	Value *Value // the value of the argument visited before, or an item of a list
	Depth int    // how many nodes stand above this one
}

// Walk visits the calls of a script in the order written, each with its
// arguments, values and nested calls before the next. When visit says false,
// what lies inside that node is left out.
func Walk(s *Script, visit func(Node) bool) {
	for i := range s.Calls {
		WalkCall(&s.Calls[i], visit)
	}
}

// WalkCall is Walk for a single call.
func WalkCall(c *Call, visit func(Node) bool) { walkCall(c, 0, visit) }

func walkCall(c *Call, depth int, visit func(Node) bool) {
	if visit(Node{Call: c, Depth: depth}) {
		walkArgs(c.Args, depth+1, visit)
	}
}

func walkArgs(args []Arg, depth int, visit func(Node) bool) {
	for i := range args {
		if visit(Node{Arg: &args[i], Depth: depth}) {
			walkValue(&args[i].Value, depth+1, visit)
		}
	}
}

func walkValue(v *Value, depth int, visit func(Node) bool) {
	if !visit(Node{Value: v, Depth: depth}) {
		return
	}
	items := v.Items()
	for i := range items {
		walkValue(&items[i], depth+1, visit)
	}
	walkArgs(v.Entries(), depth+1, visit)
	if c := v.Call(); c != nil {
		walkCall(c, depth+1, visit)
	}
}
