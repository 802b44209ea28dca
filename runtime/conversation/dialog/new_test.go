package dialog_test

import (
	"strings"
	"testing"

	"verbatim/runtime/conversation/dialog"
)

// Issue 49: a conversation that could understand nothing does not begin.
func TestNewNeedsAModelOrAnInterpreter(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	o := dialog.Options{Registry: h.reg, Session: h.session("ann"), Clock: h.clock}
	if _, err := dialog.New(o); err == nil || !strings.Contains(err.Error(), "set Options.Interpreter, such as phrases.New makes, or Options.Model") {
		t.Errorf("without both: %v", err)
	}
	o.Interpreter = fixed{}
	if _, err := dialog.New(o); err != nil {
		t.Errorf("with an interpreter alone: %v", err)
	}
	o.Model, o.Interpreter = &script{}, nil
	if _, err := dialog.New(o); err != nil {
		t.Errorf("with a model alone: %v", err)
	}
}
