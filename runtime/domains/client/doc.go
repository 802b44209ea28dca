// Package client carries out what the palette of a bank's client portal cannot say in
// YAML: questions asked one by one until a request is answered, and a conversation
// handed over to a person.
//
//	client.Register(handlers, registry)
//
// Everything else of the palette, verbs/palettes/bank/client.yaml, needs no Go.
//
// # Guided collection
//
// client.start-collection asks the questions of a request, one after the other; the
// schema of its kind of information decides which (see runtime/conversation/forms).
// client.collection-response takes an answer, exact or in words, and either asks the
// next question, or says what is wrong and stores nothing of the answer. A new answer to
// an answered question replaces the old one, and names the question by its label:
// "Share held: 38 %", or, once all is answered, "change the share held to 38 %".
// client.collection-skip leaves a question for later. When no question is open, the
// client reviews the answers, and client.collection-confirm sends them: it makes the call
// client.provide-info that a person who knew all answers would have written, and that
// call passes the gate like any other.
//
// All of it is one row, a collection, from the first question on: nothing is lost
// between two answers, whatever process dies, and any other process continues. The codes
// of collection-status declare which state may follow which. Each client has a collection
// of their own for a request; the session names the present one. If something else ends
// it, such as a colleague's full answer, the session and the person are told at the next
// message: the condition of an effect sees arguments and rows and no session, and a
// person who is being asked in another window has to hear of it anyway. The same happens
// if the bank settles the request meanwhile: a review does not change what a client is
// writing.
//
// If somebody gives several answers at once, by client.provide-info itself, and the
// schema then requires more, the answers are kept and the request is answered in part.
// client.start-collection then continues with the remaining questions, and confirming
// sends everything.
//
// # Sent back
//
// A submission may come back: an analyst rejects it with a reason, or asks for more.
// client.start-collection then offers the client their answers, question by question or
// all at once, with the reason. They get to the review of their answers, or to the first
// question whose answer is missing or does not fit the present questions; such an answer
// is dropped, and they are told.
//
// This is a new collection with the answers in it, not the old one reopened. The first
// questions and answers stay as they were, which the bank has to be able to show; an
// answer that was given all at once has no collection to reopen, and takes the same way;
// and a collection that was sent stays over, whatever an analyst decides. The offered
// answers come from one place, the latest info-submission of that client for that
// request: a colleague of the same company is told why the request is open again, and
// sees none of the answers. To erase an answer, erase it there and in the collections of
// the request; an erased answer is asked for again, and nothing looks for it in the
// journal or in a collection that was sent.
//
// # A person
//
// client.escalate writes down the whole conversation, the open requests and the attempts
// so far, notifies the relationship manager, and gives a reference that both sides can
// name. Its preview shows what would be passed on.
package client
