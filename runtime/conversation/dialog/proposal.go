package dialog

import (
	"fmt"
	"regexp"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// Reading an answer of a model: its calls and its reply.

// A proposal is an answer of a model after reading.
type proposal struct {
	script  string     // calls
	replies []dsl.Call // what to tell, see replies.go
	prose   string     // text beside them, which nobody reads
	problem string     // why it is not a valid answer
	asked   bool       // the person is asked, whatever the rules say
	phrased bool       // not by a model: it was read from the person's own words, perhaps wrongly
	codes   []string   // of phrased ones: those that the person said, in whatever words
	given   bool       // not by a model: the palette's call for an answer to its question, with the answer as it stands
}

// read reads an answer.
func (t *turn) read(reply *llm.Reply, v grammar.Vocabulary) proposal {
	if reply.Finish == llm.TooLong {
		return proposal{problem: modelCut, prose: reply.Text}
	}
	p := proposal{prose: reply.Text}
	switch {
	case len(reply.Calls) > t.c.o.Limits.Calls:
		p.problem = modelTooMany(len(reply.Calls), t.c.o.Limits.Calls)
		return p
	case len(reply.Calls) > 0:
		var lines []string
		for _, call := range reply.Calls {
			written, err := grammar.ModelCall(v, call.Name, call.Arguments)
			if err != nil {
				p.problem = fmt.Sprintf("The call of %s cannot be read, so none was made: %s. Write it again, whole.", oneLine(cut(call.Name)), err)
				return p
			}
			lines = append(lines, dsl.FormatCall(&written))
		}
		p.script = strings.Join(lines, "\n")
	case t.c.o.Mode == Grammar:
		p = proposal{script: strings.TrimSpace(reply.Text)}
	default:
		p = byFences(reply.Text, t.c.o.Registry)
	}
	p.script, p.replies = divided(p.script)
	return p
}

var fence = regexp.MustCompile("(?m)^[ \t]*(```+|~~~+)[ \t]*([A-Za-z-]*)[ \t]*$")

// byFences finds calls in fenced blocks. If there are none, lines that begin with a verb count as
// calls, since models forget the fences.
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
		case inside != "", reg.Verb(word) != nil, replyVerbNamed(word) != nil:
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
