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
	sayQuestionOf  values.Key = "client/question-of"
	sayAnswerOf    values.Key = "client/answer-of"
	sayLeftOut     values.Key = "client/left-out"
	sayNeeded      values.Key = "client/needed"
	sayChangeWhat  values.Key = "client/change-what"
	sayWelcomeBack values.Key = "client/welcome-back"
	sayGoesOn      values.Key = "client/goes-on"
	sayCheckOne    values.Key = "client/check-one"
	sayCheck       values.Key = "client/check"
	sayEntered     values.Key = "client/entered"
	sayNotSaved    values.Key = "client/not-saved"
	sayChanged     values.Key = "client/changed"
	sayStopped     values.Key = "client/stopped"
	sayOvertaken   values.Key = "client/overtaken"
	saySettled     values.Key = "client/settled"
	sayWithBank    values.Key = "client/with-bank"
	sayCannotUse   values.Key = "client/cannot-use"
	sayStillNeeds  values.Key = "client/still-needs"
	sayAsBefore    values.Key = "client/as-before"
	sayNoLonger    values.Key = "client/no-longer"
	saySentOne     values.Key = "client/sent-one"
	saySent        values.Key = "client/sent"
	// For a request that nobody at the bank reviews.
	sayTakenOne values.Key = "client/taken-one"
	sayTaken    values.Key = "client/taken"
	// For a request of which parts are missing.
	sayPartOne    values.Key = "client/part-one"
	sayPart       values.Key = "client/part"
	sayManager    values.Key = "client/manager"
	sayHandedOver values.Key = "client/handed-over"
)

func (col *collection) pleaseCheck(n int) string {
	if n == 1 {
		return sayCheckOne.In(col.in.Language)
	}
	return sayCheck.In(col.in.Language, strconv.Itoa(n))
}

// notSaved says why an answer is not valid, and that it was not stored.
func (col *collection) notSaved(w *forms.Wrong) string {
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

// sent says that answers were sent, and whether somebody reviews them. lacks names the parts of the
// request that the bank has not received.
func (col *collection) sent(n int, looks bool, lacks []string) string {
	one, all, parts := saySentOne, saySent, strings.Join(lacks, ", ")
	switch {
	case len(lacks) > 0:
		one, all = sayPartOne, sayPart
	case !looks:
		one, all = sayTakenOne, sayTaken
	}
	if n == 1 {
		return one.In(col.in.Language, parts)
	}
	return all.In(col.in.Language, strconv.Itoa(n), parts)
}

// handedOver says who has the conversation now. A login name is not shown.
func handedOver(l values.Language, manager any, reference string) string {
	who := sayManager.In(l)
	if name, ok := manager.(string); ok && strings.Contains(name, " ") {
		who = name
	}
	return sayHandedOver.In(l, who, reference)
}
