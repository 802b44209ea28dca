package dialog

import (
	"fmt"
	"regexp"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/llm"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// What a model wrote, taken apart: the calls, and what it says beside them.

// A proposal is what an answer of a model's comes to: calls, and text for the
// person.
type proposal struct {
	script, prose string
	problem       string // what is wrong with it as an answer
	asked         bool   // it is put to the person, whatever the rules say
	phrased       bool   // no model wrote it: it was read out of the person's own words, and may have been taken wrongly
}

// read takes an answer apart.
func (t *turn) read(reply *llm.Reply, v grammar.Vocabulary) proposal {
	if reply.Finish == llm.TooLong {
		return proposal{problem: modelCut, prose: reply.Text}
	}
	if len(reply.Calls) > 0 {
		p := proposal{prose: reply.Text}
		if len(reply.Calls) > t.c.o.Limits.Calls {
			p.problem = modelTooMany(len(reply.Calls), t.c.o.Limits.Calls)
			return p
		}
		var lines []string
		for _, call := range reply.Calls {
			written, err := grammar.Call(v, call.Name, call.Arguments)
			if err != nil {
				p.problem = fmt.Sprintf("The call of %s cannot be read, so none was made: %s. Write it again, whole.", oneLine(cut(call.Name)), err)
				return p
			}
			lines = append(lines, dsl.FormatCall(&written))
		}
		p.script = strings.Join(lines, "\n")
		return p
	}
	if t.c.o.Mode == Grammar {
		return byComments(reply.Text)
	}
	return byFences(reply.Text, t.c.o.Registry)
}

// byComments divides text in which every line that is no call is a comment.
func byComments(text string) proposal {
	var p proposal
	for line := range strings.Lines(text) {
		if said, ok := strings.CutPrefix(strings.TrimSpace(line), ";"); ok {
			p.prose += strings.TrimPrefix(said, " ") + "\n"
			continue
		}
		p.script += line
	}
	p.script, p.prose = strings.TrimSpace(p.script), strings.TrimSpace(p.prose)
	return p
}

var fence = regexp.MustCompile("(?m)^[ \t]*(```+|~~~+)[ \t]*([A-Za-z-]*)[ \t]*$")

// byFences divides text in which calls stand in fenced blocks. Where there is
// none, lines that begin with a verb are calls all the same: models forget.
func byFences(text string, reg *verbs.Registry) proposal {
	var p proposal
	var script, prose []string
	inside := ""
	for _, line := range strings.Split(text, "\n") {
		if m := fence.FindStringSubmatch(line); m != nil && (inside == "" || m[2] == "" && strings.HasPrefix(m[1], inside)) {
			if inside == "" {
				inside = m[1]
			} else {
				inside = ""
			}
			continue
		}
		word, _, _ := strings.Cut(strings.TrimLeft(line, " \t("), " ")
		switch {
		case inside != "", reg.Verb(word) != nil:
			script = append(script, line)
		default:
			prose = append(prose, line)
		}
	}
	if inside != "" {
		p.problem = modelUnclosed
	}
	p.script, p.prose = strings.TrimSpace(strings.Join(script, "\n")), strings.TrimSpace(strings.Join(prose, "\n"))
	return p
}
