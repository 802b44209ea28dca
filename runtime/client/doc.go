// Package client carries out what the palette of a bank's client portal cannot
// say in YAML: questions asked one by one until a request is answered, and a
// conversation handed over to a person.
//
//	client.Register(handlers, registry)
//
// Everything else of the palette, verbs/client.yaml, needs no Go.
//
// # Guided collection
//
// client.start-collection asks for what a request wants, one question after the
// other; which, says the schema of its kind of information (see runtime/collect).
// client.collection-response takes an answer, exact or in words, and either asks
// the next question, or says what is wrong and stores nothing of it; an answer to
// a question that was answered replaces it, and names it by what it is called:
// "Share held: 38 %", or, once all is answered, "change the share held to 38 %".
// client.collection-skip leaves one for later. When nothing is open, the answers are
// shown to be checked, and client.collection-confirm sends them: it makes the call
// client.provide-info that somebody who knew all of it would have written, and that
// call passes the gate as any other does.
//
// All of it stands in one row, a collection, from the first question on: nothing
// is lost between two answers, whatever process dies, and any other goes on from
// there. Which state may follow which is declared with the codes of
// collection-status. Each client has a collection of their own for a request; the
// session says which is the one at hand. Where something else ends it, such as a
// colleague's answer in full, the session is told at the next thing that is said in
// it, and so is the person: the condition of an effect knows arguments and rows and
// no session, and whoever is being asked in another window has to hear of it anyway.
// So it is where the bank settles the request meanwhile: a review changes nothing of
// what a client is writing.
//
// Where somebody gives all at once what they know, by client.provide-info itself,
// and their answers make the schema ask for more, what they gave is kept and the
// request is answered in part. client.start-collection then goes on with the
// questions that are left, and confirming sends the whole.
//
// # Sent back
//
// What was sent may come back: an analyst rejects it and says why, or asks for more.
// client.start-collection then offers the client what they had sent, question by
// question or all at once, and says why it came back; they land where their answers
// are checked, or at the first question whose answer is missing or does not fit the
// questions of today, which is dropped and said.
//
// It is a new collection with the answers in it, and not the old one opened again.
// What was asked and sent the first time stays as it was, which is what the bank has
// to be able to show; an answer that was given all at once has no collection that
// could be opened, and takes the same way; and that a collection which was sent is
// over stays true whatever an analyst decides. What is offered comes out of one
// place, the latest info-submission of that client for that request: a colleague of
// the same company is told why the request is open again, and sees nothing of it.
// Who has to erase an answer erases it there, and in the collections of the request;
// one that is not there any more is asked for anew, and nothing looks for it in the
// journal or in a collection that was sent.
//
// # A person
//
// client.escalate writes down the whole conversation, what is outstanding and
// what was tried, tells the relationship manager, and gives a reference that both
// sides can name. Its preview shows what would be passed on.
package client
