package confidence

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/domains/confidence/modeltest"
)

// The mind of the race's model. It is one function of the request, for both agents and for the
// verbs that ask a model. It is told what they are told, and knows neither the graph nor the
// answers nor whether there was a fault.
//
// It reads the four kinds of questions without a mistake, and it plans, calls and summarises
// without one: how well a model understands is not what is compared. Asked for a plan, it writes
// the shortest. Asked for the next step, it makes the call that the same plan has next. In the
// loop it sees each answer, which the planner's model does not, and makes good use of that:
//
//   - A row counts only if it speaks of the thing that was asked for. Rows that speak of
//     something else are as good as none.
//   - Where nothing was found, it goes another way, as the prompt tells it to: by a part of the
//     name, or by the verb's own argument for that. Once there is no way left, it says so.
//   - A call that failed it makes once more, beside the three times that the loop makes it.
//   - A text of a model that is empty or stops within a sentence it asks for again, twice.
//
// It never states what was not found. So everything wrong that the loop says comes of an answer
// that was cut after the mind wrote it, or of topics that were cut unnoticeably. Models are
// worse than this at both agents' prompts; the comparison is of what the agents make of it.
func raceMind(r modeltest.Request) llm.Reply {
	switch {
	case r.SchemaName == "plan":
		return llm.Reply{Text: planOf(understood(r.Messages[1].Text))}
	case len(r.Tools) > 0:
		return next(understood(r.Messages[1].Text), r.Messages[2:])
	}
	return llm.Reply{Text: written(r.Messages[0].Text, r.Messages[1].Text)}
}

// A wanted is what the mind has understood of a question.
type wanted struct {
	kind string
	a, b string   // the names in it
	of   relation // of lookups
}

var (
	connectedAsk = regexp.MustCompile(`^How are (.+) and (.+) connected\?$`)
	summaryAsk   = regexp.MustCompile(`^Summarise what the papers say about (.+)\.$`)
)

// understood reads a question: the last line of what the user says.
func understood(text string) wanted {
	text = text[strings.LastIndexByte(text, '\n')+1:]
	text = strings.TrimPrefix(text, "Question: ")
	if m := connectedAsk.FindStringSubmatch(text); m != nil {
		return wanted{kind: connection, a: m[1], b: m[2]}
	}
	if m := summaryAsk.FindStringSubmatch(text); m != nil {
		return wanted{kind: summary, a: m[1]}
	}
	for _, r := range relations {
		for _, asks := range []string{r.asks2, r.asks} { // a question about the company that … reads like one about a name
			before, behind, _ := strings.Cut(asks, "{}")
			if name, ok := strings.CutPrefix(text, before); ok && strings.HasSuffix(name, behind) {
				return wanted{kind: map[string]string{r.asks: lookup, r.asks2: twoStep}[asks], a: strings.TrimSuffix(name, behind), of: r}
			}
		}
	}
	return wanted{}
}

const summarise = "Write a summary of these topics."

// planOf writes the plan of a question.
func planOf(q wanted) string {
	step := func(id, function, args, needs string) string {
		return fmt.Sprintf(`{"id":%q,"function":"graph__%s","arguments":%s,"dependencies":[%s]}`, id, function, args, needs)
	}
	var steps []string
	switch q.kind {
	case lookup:
		steps = []string{step("links", "links", args("name", q.a), "")}
	case twoStep:
		steps = []string{step("founded", "links", args("name", q.a), ""), step("links", "links", args("name", "@founded.object"), `"founded"`)}
	case connection:
		steps = []string{step("way", "connections", args("from", q.a, "to", q.b), "")}
	case summary:
		steps = []string{step("papers", "papers", args("about", q.a), ""), step("topics", "extract-topics", args("text", "@papers"), `"papers"`),
			step("summary", "complete", args("instruction", summarise, "text", "@topics"), `"topics"`)}
	}
	return `{"steps":[` + strings.Join(steps, ",") + `]}`
}

// args are the arguments of a call, as JSON.
func args(pairs ...any) string {
	all := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i].(string)] = pairs[i+1]
	}
	text, _ := json.Marshal(all) // of texts
	return string(text)
}

// A turn is a call that was made, and what the loop says came of it.
type turn struct{ function, args, said string }

func turnsOf(history []llm.Message) (all []turn) {
	for i, m := range history {
		if m.Role == llm.Assistant && len(m.Calls) > 0 && i+1 < len(history) {
			all = append(all, turn{strings.TrimPrefix(m.Calls[0].Name, "graph__"), m.Calls[0].Arguments, history[i+1].Text})
		}
	}
	return all
}

// What the loop says where a call answered, and found nothing.
const foundNothing = "Nothing was found that you can see."

// rows are the rows of an answer, by their columns; nil of what is no answer.
func (t turn) rows() (all []map[string]string) {
	for line := range strings.Lines(t.said) {
		row, last := map[string]string{}, ""
		for part := range strings.SplitSeq(numbered.ReplaceAllString(strings.TrimSpace(line), ""), "; ") {
			if m := columned.FindStringSubmatch(part); m != nil {
				last, row[m[1]] = m[1], m[2]
			} else if last != "" { // a value with a semicolon in it
				row[last] += "; " + part
			}
		}
		if len(row) > 0 {
			all = append(all, row)
		}
	}
	return all
}

var (
	numbered = regexp.MustCompile(`^\d+\. `)
	columned = regexp.MustCompile(`^([a-z]+):(?: (.*))?$`)
)

// A look is one thing to find out, with the ways to do so, the best first.
type look struct {
	thought string
	ways    []turn
	// use is what the rows of an answer tell; "" where they tell nothing of it.
	use func(rows []map[string]string) string
	// again is how often a way is gone that led to nothing of use. Only a model answers
	// otherwise when it is asked again.
	again int
}

// find is what the turns so far tell, or else the next call to make.
func (l look) find(turns []turn) (told string, reply *llm.Reply) {
	for _, t := range turns {
		if slices.ContainsFunc(l.ways, func(w turn) bool { return w.function == t.function && w.args == t.args }) {
			if told := l.use(t.rows()); told != "" {
				return told, nil
			}
		}
	}
	for _, w := range l.ways {
		answered, failed := 0, 0
		for _, t := range turns {
			switch {
			case w.function != t.function || w.args != t.args:
			case t.said == foundNothing || len(t.rows()) > 0 && l.answers(t):
				answered++
			default:
				failed++
			}
		}
		if answered <= l.again && failed < 2 && answered+failed <= 2 {
			return "", &llm.Reply{Text: l.thought, Calls: []llm.ToolCall{{Name: "graph__" + w.function, Arguments: w.args}}}
		}
	}
	return "", nil
}

// answers reports whether what was said are rows, and no reason why there are none.
func (l look) answers(t turn) bool {
	for _, row := range t.rows() {
		for _, column := range []string{"subject", "what", "content", "text", "answer"} {
			if _, ok := row[column]; ok {
				return true
			}
		}
	}
	return false
}

// linksOf looks what a thing is connected with.
func linksOf(name string, use func(row map[string]string) string) look {
	first, _, _ := strings.Cut(name, " ")
	return look{thought: "I look at what " + name + " is connected with.", ways: []turn{{"links", args("name", name), ""}, {"links", args("name", first), ""}}, use: func(rows []map[string]string) string {
		for _, row := range rows {
			if row["subject"] == name || row["object"] == name {
				if told := use(row); told != "" {
					return told
				}
			}
		}
		return ""
	}}
}

// next is the mind's next turn in the loop.
func next(q wanted, history []llm.Message) llm.Reply {
	turns := turnsOf(history)
	about := q.a
	answer := ""
	// link finds the one end of a link of a thing.
	link := func(name string, r relation) (string, *llm.Reply) {
		return linksOf(name, func(row map[string]string) string {
			switch {
			case row["how"] != r.how:
				return ""
			case r.object && row["subject"] == name:
				return row["object"]
			case !r.object && row["object"] == name:
				return row["subject"]
			}
			return ""
		}).find(turns)
	}
	var reply *llm.Reply
	switch q.kind {
	case twoStep:
		if about, reply = link(q.a, relation{how: "founded", object: true}); reply != nil {
			return *reply
		}
		if about == "" {
			return unanswered(q.a)
		}
		fallthrough
	case lookup:
		if answer, reply = link(about, q.of); reply == nil && answer != "" {
			ends := []string{answer, about}
			if q.of.object {
				ends = []string{about, answer}
			}
			answer = ends[0] + " " + q.of.how + " " + ends[1] + "."
		}
	case connection:
		ways := []turn{{"connections", args("from", q.a, "to", q.b), ""}, {"connections", args("from", q.a, "to", q.b, "parts", true), ""}, {"connections", args("from", q.a, "to", q.b, "parts", true, "hops", 4), ""}}
		answer, reply = look{thought: "I look how the two are connected.", ways: ways, use: func(rows []map[string]string) string {
			first, second := "", ""
			for _, row := range rows {
				switch way := row["way"]; {
				case row["what"] == "PATH" && strings.Contains(way, q.a) && strings.Contains(way, q.b):
					return "They are connected: " + way + "."
				case row["what"] == "END" && strings.HasPrefix(way, q.a+" is known"):
					first = way
				case row["what"] == "END" && strings.HasPrefix(way, q.b+" is known, and "):
					second = way
				}
			}
			if first == "" || second == "" {
				return ""
			}
			return "They are not connected: " + first + "; " + second + "."
		}}.find(turns)
	case summary:
		first, _, _ := strings.Cut(q.a, " ")
		var papers, topics string
		papers, reply = look{thought: "I look for the papers.", ways: []turn{{"papers", args("about", q.a), ""}, {"papers", args("about", first), ""}}, use: func(rows []map[string]string) string {
			var texts []string
			for _, row := range rows {
				if strings.Contains(row["content"], q.a) {
					texts = append(texts, row["content"])
				}
			}
			return strings.Join(texts, " ")
		}}.find(turns)
		if reply != nil || papers == "" {
			break
		}
		topics, reply = look{thought: "I extract the topics.", ways: []turn{{"extract-topics", args("text", papers), ""}}, again: 2, use: text}.find(turns)
		if reply != nil || topics == "" {
			break
		}
		answer, reply = look{thought: "I summarise them.", ways: []turn{{"complete", args("instruction", summarise, "text", topics), ""}}, again: 2, use: func(rows []map[string]string) string {
			if t := text(rows); strings.HasSuffix(t, ".") {
				return t
			}
			return ""
		}}.find(turns)
	}
	switch {
	case reply != nil:
		return *reply
	case answer == "":
		return unanswered(q.a)
	}
	return llm.Reply{Text: answer}
}

func text(rows []map[string]string) string {
	if len(rows) == 0 {
		return ""
	}
	return rows[0]["answer"]
}

// saysUnanswered is how both agents and the mind say that there is no answer.
const saysUnanswered = "could not be answered"

func unanswered(about string) llm.Reply {
	return llm.Reply{Text: "This " + saysUnanswered + ": nothing was found about " + about + "."}
}

var (
	ruling = regexp.MustCompile(`Under [A-Z]\w+ [A-Z]\w+ ([^.;]*\d+ \w+)\.`)
	topic  = regexp.MustCompile(`([a-z][a-z ]*?) (\d+ [a-z]+)`)
)

// written is what the mind writes for a verb that asks a model.
func written(instruction, of string) string {
	if !strings.HasPrefix(instruction, summarise) { // the topics are asked for
		var lines []string
		for _, m := range ruling.FindAllStringSubmatch(of, -1) {
			lines = append(lines, m[1])
		}
		if lines != nil {
			return strings.Join(lines, "\n")
		}
	}
	says := ""
	for _, m := range topic.FindAllStringSubmatch(of, -1) {
		t := strings.TrimSpace(m[1]) + " " + m[2]
		says += " " + strings.ToUpper(t[:1]) + t[1:] + "."
	}
	if says == "" {
		return unanswered("this").Text
	}
	return "The papers say the following." + says
}
