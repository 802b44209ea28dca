package dialog

import (
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/verbs"
)

// A Turn is the record of a turn: what was read, matched, resolved and left out, and which rule
// asked. "Why did it propose this" is answered from the record. The model is not asked, since it
// would invent a reason.
type Turn struct {
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	Said   string    `json:"said"`
	Quoted string    `json:"quoted,omitempty"`
	// Foreign says that the message was not the person's own.
	Foreign bool       `json:"foreign,omitempty"`
	Read    []CallNote `json:"read,omitempty"`   // the context
	Phrase  string     `json:"phrase,omitempty"` // the phrase that matched, without a model
	Calls   []CallNote `json:"calls,omitempty"`  // what was carried out
	// Proposed are the model's answers with calls, and their outcomes.
	Proposed []Proposed `json:"proposed,omitempty"`
	Resolved []Traced   `json:"resolved,omitempty"`
	NotUsed  []string   `json:"notUsed,omitempty"`
	Rules    []string   `json:"rules,omitempty"`
	// Agreed is the question that was agreed to; Withdrawn are the calls that were declined.
	Agreed    string     `json:"agreed,omitempty"`
	Withdrawn []string   `json:"withdrawn,omitempty"`
	Replaced  []claim    `json:"replaced,omitempty"` // claims of the model that no fact supports
	Notes     []string   `json:"notes,omitempty"`
	Journal   [][2]int64 `json:"journal,omitempty"` // first and last entry
	Model     ModelNote  `json:"model"`
	Told      string     `json:"told"`
	// Taken is how the message was understood; From and To are the states before and after it.
	Taken Taken `json:"taken,omitempty"`
	From  State `json:"from,omitempty"`
	To    State `json:"to,omitempty"`

	spoken  Spoken
	asks    string       // the question of a collection that it leaves open, as a digest
	later   bool         // that one was put off
	noted   []remark     // Notes, in any language
	ruled   []firedRule  // and Rules
	tainted verbs.Origin // untrusted origins of text that may be repeated in it
}

// A CallNote is a call that ran.
type CallNote struct {
	Call  string `json:"call"`
	Verb  string `json:"verb"`
	Rows  int    `json:"rows,omitempty"`  // found
	Wrote int    `json:"wrote,omitempty"` // changed
	From  string `json:"from,omitempty"`  // what in its answer is less trusted than a record
}

// Proposed is one answer of the model.
type Proposed struct {
	Script  string `json:"script,omitempty"`
	Says    string `json:"says,omitempty"` // text beside them, which nobody was told
	Outcome string `json:"outcome"`
}

// ModelNote describes the model's part in a turn.
type ModelNote struct {
	Name    string `json:"name,omitempty"`
	Prompt  string `json:"prompt"`
	Calls   int    `json:"calls"`
	Repairs int    `json:"repairs,omitempty"`
	In      int    `json:"in"`
	Out     int    `json:"out"`
}

func (r *Turn) heardModel(reply *llm.Reply) {
	r.Model.Name = reply.Model
	r.Model.In += reply.Usage.In
	r.Model.Out += reply.Usage.Out
}

func (t *turn) propose(p proposal, outcome string) {
	r := t.record
	first, _, _ := strings.Cut(outcome, "\n")
	if strings.HasPrefix(first, "None of that was done") {
		_, rest, _ := strings.Cut(outcome, "\n")
		first, _, _ = strings.Cut(rest, "\n")
	}
	script := t.written(p.script)
	for i := range p.replies {
		script = joined(script, dsl.FormatCall(&p.replies[i]))
	}
	r.Proposed = append(r.Proposed, Proposed{Script: cut(script), Says: cut(p.prose), Outcome: first})
}
