package client

import (
	"strconv"
	"strings"

	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/conversation/values"
)

// Sentences for clients, in each language, to be read aloud together. {} stands for the arguments,
// in order.

// Refusals for the author of the call; the conversation has other sentences for a person.
const (
	nothingToAsk    = "this request is not answered by questions"
	nextDetail      = "client.get-request-detail says what would do"
	nothingAtHand   = "nothing is being asked in this session"
	nextStart       = "client.start-collection begins with a request, or goes on with it"
	nothingToAnswer = "every question was answered or left out; say which answer to change"
	nothingToSkip   = "every question was answered or left out"
	nextConfirm     = "client.collection-confirm :confirmed true sends the answers"
)

const (
	sayQuestionOf  words.Key = "client/question-of"
	sayAnswerOf    words.Key = "client/answer-of"
	sayLeftOut     words.Key = "client/left-out"
	sayNeeded      words.Key = "client/needed"
	sayChangeWhat  words.Key = "client/change-what"
	sayWelcomeBack words.Key = "client/welcome-back"
	sayGoesOn      words.Key = "client/goes-on"
	sayCheckOne    words.Key = "client/check-one"
	sayCheck       words.Key = "client/check"
	sayEntered     words.Key = "client/entered"
	sayNotSaved    words.Key = "client/not-saved"
	sayChanged     words.Key = "client/changed"
	sayStopped     words.Key = "client/stopped"
	sayOvertaken   words.Key = "client/overtaken"
	saySettled     words.Key = "client/settled"
	sayWithBank    words.Key = "client/with-bank"
	sayCannotUse   words.Key = "client/cannot-use"
	sayStillNeeds  words.Key = "client/still-needs"
	sayAsBefore    words.Key = "client/as-before"
	sayNoLonger    words.Key = "client/no-longer"
	saySentOne     words.Key = "client/sent-one"
	saySent        words.Key = "client/sent"
	// For a request that nobody at the bank reviews.
	sayTakenOne   words.Key = "client/taken-one"
	sayTaken      words.Key = "client/taken"
	sayManager    words.Key = "client/manager"
	sayHandedOver words.Key = "client/handed-over"
)

func (col *collection) pleaseCheck(n int) string {
	if n == 1 {
		return sayCheckOne.In(col.in.Language)
	}
	return sayCheck.In(col.in.Language, strconv.Itoa(n))
}

// notSaved says why an answer is not valid, and that it was not stored.
func (col *collection) notSaved(w *collect.Wrong) string {
	l := col.in.Language
	switch {
	case w.Asks:
		return w.Says
	case w.Entered != "":
		return join(w.Says, sayEntered.In(l, w.Entered), sayNotSaved.In(l))
	}
	return join(w.Says, sayNotSaved.In(l))
}

func notComplete(label string) string { return "not all is answered yet: " + label + " is missing" }

func nextAnswer(field string) string {
	return "client.collection-response :field \"" + field + "\" gives the answer; client.collection-skip leaves it for later"
}

// sent says that answers were sent, and whether somebody reviews them.
func (col *collection) sent(n int, looks bool) string {
	one, all := saySentOne, saySent
	if !looks {
		one, all = sayTakenOne, sayTaken
	}
	if n == 1 {
		return one.In(col.in.Language)
	}
	return all.In(col.in.Language, strconv.Itoa(n))
}

// handedOver says who has the conversation now. A login name is not shown.
func handedOver(l words.Language, manager any, reference string) string {
	who := sayManager.In(l)
	if name, ok := manager.(string); ok && strings.Contains(name, " ") {
		who = name
	}
	return sayHandedOver.In(l, who, reference)
}
