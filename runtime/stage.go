package runtime

// A Stage is a step on the way of a call, or of a whole run, that Options.At is
// told of.
type Stage string

// The stages of a call, and then of the run that it belongs to, in the order in
// which they are entered. A run that is tried again begins again.
const (
	StagePermit  Stage = "permit"  // may the principal use the verbs
	StageResolve Stage = "resolve" // which rows do the references of a call name
	StageGate    Stage = "gate"    // what a call requires, and who must agree to it
	StageCarry   Stage = "carry"   // what the call would change
	StageSettle  Stage = "settle"  // is that what its verb promised
	StageApply   Stage = "apply"   // its changes go to the transaction
	StageAgreed  Stage = "agreed"  // is this what was agreed to
	StageRecord  Stage = "record"  // journal, notices and what the engine keeps go to the transaction
	StageReply   Stage = "reply"   // it is committed: what was done is put into words
)

// enter tells whoever wants to know that a stage begins.
func (e *Engine) enter(s Stage) {
	if e.at != nil {
		e.at(s)
	}
}
