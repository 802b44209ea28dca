package client

import (
	"fmt"

	"verbatim/runtime/collect"
)

// What is said to clients, to be read aloud together.

const (
	nothingToAsk    = "this request is not answered by questions"
	nextDetail      = "client.get-request-detail says what would do"
	nothingAtHand   = "nothing is being asked in this session"
	nextStart       = "client.start-collection begins with a request, or goes on with it"
	nothingToAnswer = "every question was answered or left out; say which answer to change"
	nothingToSkip   = "every question was answered or left out"
	nextConfirm     = "client.collection-confirm :confirmed true sends the answers"

	notAnswered    = "(left out)"
	neededAfterAll = "This one is needed in the end."
	changeWhat     = "Say which answer to change, and to what."
)

func welcomeBack(n, of int, about string) string {
	return fmt.Sprintf("Welcome back. You have answered %d of %d questions about %s.", n, of, about)
}

func goesOn(n, of int, about string) string {
	return fmt.Sprintf("You have given %d of %d answers about %s. This is what is left.", n, of, about)
}

func pleaseCheck(n int) string {
	if n == 1 {
		return "Please check your answer. It is sent when you confirm it; you cannot change it yourself after that."
	}
	return fmt.Sprintf("Please check your %d answers. They are sent when you confirm them; you cannot change them yourself after that.", n)
}

// notSaved says why an answer does not count, and that nothing of it was kept.
func notSaved(w *collect.Wrong) string {
	switch {
	case w.Asks:
		return w.Says
	case w.Entered != "":
		return fmt.Sprintf("%s You entered %s. Nothing was saved.", w.Says, w.Entered)
	}
	return w.Says + " Nothing was saved."
}

func changed(field string) string { return fmt.Sprintf("Changed: %s.", field) }

func stopped(n, of int) string {
	return fmt.Sprintf("Stopped with %d of %d questions answered. Nothing was sent; your answers are kept, and you can go on with them any time.", n, of)
}

func notComplete(label string) string {
	return fmt.Sprintf("not all is answered yet: %s is missing", label)
}

func nextAnswer(field string) string {
	return "client.collection-response :field " + field + " gives the answer; client.collection-skip leaves it for later"
}

func sent(n int) string {
	if n == 1 {
		return "Your answer was sent. The bank checks it now; if anything has to be changed, they can reopen it for you."
	}
	return fmt.Sprintf("Your %d answers were sent. The bank checks them now; if anything has to be changed, they can reopen it for you.", n)
}

func handedOver(manager any, reference string) string {
	who := "Your relationship manager"
	if name, ok := manager.(string); ok && name != "" {
		who = name
	}
	return fmt.Sprintf("%s has this conversation. Reference %s.", who, reference)
}
