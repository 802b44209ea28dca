// Package dialog holds a conversation: somebody says something, a language model
// makes calls of it, and Verbatim checks, previews, asks, carries out and tells.
//
//	c, err := dialog.New(dialog.Options{Registry: reg, Session: session, Model: model, Clock: time.Now})
//	answer, err := c.Say(ctx, dialog.Message{Text: "Still waiting on our accountant."})
//	fmt.Println(answer.Text)
//
// The model proposes and decides nothing. What it writes is parsed and checked
// like any script; what is wrong goes back to it, three times at most. Every
// value that it writes is traced: into the person's own words, into a record that
// was shown in this turn, into a document or the answer of a tool, or into none
// of them, and the engine holds that against what a palette accepts. Where a rule
// asks, the person is asked, and only their own plain yes, to the one question
// that was just put to them, is an agreement; no text of a model, a document or
// somebody else is. Once something that a stranger wrote stands before the model
// (a document, the answer of a tool, a quoted mail, a field of which its palette
// says that others write it), whatever it proposes is asked about as well, unless
// the person asked for that very thing and said every value of it; and amounts
// that no rule asks about one by one are asked about by their sum, that of a person
// in all their conversations of two days.
//
// A model writes nothing that a person reads. Its reply is a structure too, made of
// calls: which facts of the turn to tell, which argument to ask for, which courtesy to
// say. The house tells that in the sentences of the palettes and in the person's
// language, and what was done first, from the receipt. A palette may let a model add
// sentences of its own (replies: phrased): each cites rows, and is dropped where it
// states a day, a number, a name or a status that is not theirs.
//
// A value for an argument that a palette takes from no model is asked about, though it
// stands in what the person wrote: to mention an account is not to want money sent
// there. It is not asked about where it is the whole answer to the question for it.
//
// Follow tells whoever waits how far a turn is, and what is done as soon as it is.
//
// Without a model, or when it cannot be had, phrases are understood as far as
// palettes give them.
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
// The states, and what they do with a message, have files of their names; without a model
// a message is tried against what is open in this order: asking, clarifying, collecting.
//
// The package knows no domain. What a conversation in a domain is like, its
// palette says: see verbs.Conversation.
package dialog
