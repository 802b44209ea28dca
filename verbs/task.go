package verbs

import "verbatim/dsl"

// A TaskState is the state of a task, as other programs see it: one of the states of A2A 1.0, in
// lower case.
type TaskState string

// TaskStates lists all states.
var TaskStates = []string{string(TaskSubmitted), string(TaskWorking), string(TaskInput), string(TaskAuth), string(TaskCompleted), string(TaskFailed), string(TaskCanceled), string(TaskRejected)}

// Ended reports whether the state of the task can no longer change.
func (s TaskState) Ended() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCanceled || s == TaskRejected
}

// A Task says how verbs form a task that other programs begin, follow and end. A task is a row of
// Entity that its caller sees.
type Task struct {
	Entity *Entity
	Codes  *CodeList
	States map[string]TaskState // for each code of the field with the task's progress
	Begins []*Verb              // each creates a row of Entity
	// Otherwise names the verb that begins a task for a message that means no verb; nil if there
	// is none.
	Otherwise *Answering
	// Continues takes an answer, and Row is its argument that names the task; nil if no questions
	// are asked. Words is its argument that takes plain words, or -1.
	Continues  *Verb
	Row, Words int
	// Cancels ends a task, and CancelRow is its argument that names the task; nil if no task can
	// be ended.
	Cancels   *Verb
	CancelRow int
	Tells     *Verb // reads one task, the one that Tells.Read.By names
	Lists     *Verb // reads all that the caller sees; nil if they are not listed
	// Status, Message and Changed are columns of what Tells returns: the state, a text about it,
	// and the time of the last change. The last two may be "".
	Status, Message, Changed string
	Place                    dsl.Place
}

// Tasks returns the tasks that the palettes declare, in the order of their domains.
func (r *Registry) Tasks() (all []*Task) {
	for _, p := range r.palettes {
		if p.Task != nil {
			all = append(all, p.Task)
		}
	}
	return all
}

// The states of a task.
const (
	TaskSubmitted TaskState = "submitted"
	TaskWorking   TaskState = "working"
	TaskInput     TaskState = "input-required" // from the program that began it
	TaskAuth      TaskState = "auth-required"  // somebody has to agree
	TaskCompleted TaskState = "completed"
	TaskFailed    TaskState = "failed"
	TaskCanceled  TaskState = "canceled"
	TaskRejected  TaskState = "rejected"
)
