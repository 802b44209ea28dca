// Package dialog holds a conversation: somebody says something, a language model
// makes calls of it, and Verbatim checks, previews, asks, carries out and tells.
//
//	c, err := dialog.New(dialog.Options{Registry: reg, Session: session, Model: model, Clock: time.Now})
//	answer, err := c.Say(ctx, dialog.Message{Text: "Still waiting on our accountant."})
//	fmt.Println(answer.Text)
//
// The model proposes and decides nothing. What it writes is parsed and checked like any
// script; mistakes go back to it, three times at most. Every value that it writes is
// traced to a source: the person's own words, a record shown in this turn, a document or
// a tool's answer, or none of these. The engine compares that origin with what the
// palette accepts. If a rule asks, the person is asked, and only their own plain yes to
// the last question is an agreement; no text of a model, a document or somebody else is.
// Once the model has read an untrusted text (a document, a tool's answer, a quoted mail,
// a field that its palette marks as written by others), everything that it proposes is
// asked about, unless the person asked for exactly that and said every value of it.
// Whatever it read, a model writes nothing unasked: a value that stands in no words of the
// person since their last change, a row that they did not choose, and a change on a question or
// thanks are asked about first, unless the argument's palette takes a model's value (from: names
// model). That frees the value and never the act.
// Amounts below the sum at which a rule asks are added up, over all conversations of a
// person within two days, and the sum is asked about.
//
// A model writes nothing that a person reads. Its reply is a structure made of calls:
// which facts of the turn to tell, which argument to ask for, which courtesy to say. The
// engine words them in the palettes' sentences and in the person's language, and tells
// first what was done, from the receipt. A palette may let a model add sentences of its
// own (replies: phrased): each cites rows, and is dropped if it states a date, a number,
// a name or a status that is not theirs.
//
// A value for an argument that accepts no model's value is asked about even if it stands
// in the person's text: mentioning an account is not a wish to pay it. It is not asked
// about if it is the whole answer to the question for it.
//
// Follow reports the progress of a turn, and what is done as soon as it is.
//
// Without a model, or if it cannot be reached, messages are understood by an Interpreter.
// Package phrases has one that knows the phrases of the palettes:
//
//	index := intent.New(reg) // once for all conversations
//	c, err := dialog.New(dialog.Options{Registry: reg, Session: session, Clock: time.Now,
//		Interpreter: phrases.New(reg, index, session, time.Now, time.UTC)})
//
// New refuses a conversation that has neither.
//
// A conversation is a machine of five states: idle, asking, clarifying, collecting, and
// waiting for others.
//
// A message moves it, by what it is taken for:
//
//	unheard     from any                 to any
//	yes         from asking              to any
//	no          from any                 to idle, asking, clarifying, collecting
//	again       from asking, clarifying  to asking, clarifying
//	correction  from any                 to idle, asking, clarifying, collecting
//	choice      from asking, clarifying  to idle, asking, clarifying, collecting
//	answer      from asking, clarifying, collecting  to idle, asking, collecting
//	courtesy    from any                 to idle, asking, clarifying, collecting
//	between     from asking, clarifying  to idle, asking, clarifying, collecting
//	request     from any                 to idle, asking, clarifying, collecting
//	unclear     from any                 to asking, clarifying
//	nothing     from any                 to idle, asking, clarifying, collecting
//	model       from any                 to idle, asking, collecting
//
// The states have files of their names with their handlers; without a model a message is tried
// against the open states in this order: asking, clarifying, collecting.
//
// The package knows no domain. What a conversation in a domain is like, its
// palette says: see verbs.Conversation.
package dialog
