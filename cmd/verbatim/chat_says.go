package main

import (
	"errors"
	"fmt"
	"io/fs"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/files/intake"
)

// The sentences of `verbatim chat` to the person, besides those of runtime/conversation/dialog, in each
// language. Messages to the operator, about flags and endpoints, are in English.

const (
	sayBegin       values.Key = "chat/begin"
	sayNoWhy       values.Key = "chat/no-why"
	sayNoCommand   values.Key = "chat/no-command"
	sayLineTooLong values.Key = "chat/line-too-long"
	saySendPart    values.Key = "chat/send-part"

	// Files
	hereIs        values.Key = "chat/here-is"
	wasSent       values.Key = "chat/was-sent"
	sayNotSent    values.Key = "chat/not-sent"
	sayUnreadFile values.Key = "chat/unread-file"
	sayFileLost   values.Key = "chat/file-lost"

	// Meanwhile
	sayAsksModel values.Key = "chat/asks-model"
	sayMends     values.Key = "chat/mends"
	sayLooks     values.Key = "chat/looks"
	sayWorks     values.Key = "chat/works"
)

// Why a file was not sent, and what to do.
var (
	notSendingHere = unsent{
		"chat/sending-off",
		"chat/sending-off-next"}
	noFileNamed = unsent{
		"chat/no-file-named",
		"chat/no-file-named-next"}
	fileHarmful = unsent{
		"chat/harmful",
		"chat/harmful-next"}
	tryAgain   values.Key = "chat/try-again"
	nameOfFile values.Key = "chat/name-of-file"
)

// An unsent is the reason why a file was not sent, and the next step.
type unsent struct{ why, next values.Key }

// unsentBy words the refusal of an upload by its code. In English the refusal itself is told, which
// is more exact.
var unsentBy = map[string]unsent{
	intake.CodeEmpty: {
		"chat/empty",
		"chat/empty-next"},
	intake.CodeTooLarge: {
		"chat/too-large",
		"chat/too-large-next"},
	intake.CodeNotPermitted: {
		"chat/not-permitted",
		"chat/not-permitted-next"},
}

// unreadable says why a file cannot be read. The operating system's reason is in English.
func unreadable(l values.Language, err error) string {
	switch {
	case l == values.English:
		return reason(err)
	case errors.Is(err, fs.ErrNotExist):
		return values.Key("chat/not-there").In(l)
	case errors.Is(err, fs.ErrPermission):
		return values.Key("chat/may-not-be-read").In(l)
	case errors.Is(err, errNoFile):
		return values.Key("chat/no-file").In(l)
	}
	return values.Key("chat/not-in-the-folder").In(l)
}

// notSentFor words a refusal of the upload service.
func notSentFor(l values.Language, refused *intake.Refusal) (why, next string) {
	if says, ok := unsentBy[refused.Code]; ok && l != values.English {
		return says.why.In(l), says.next.In(l)
	}
	return refused.Text, refused.Next
}

var errNoFile = errors.New("it is no file")

// atWork says what a turn is doing.
func atWork(e dialog.Event) string {
	switch e.Kind {
	case dialog.AskingModel:
		return sayAsksModel.In(e.Language)
	case dialog.Mending:
		return sayMends.In(e.Language)
	case dialog.Reading:
		return sayLooks.In(e.Language, e.About)
	case dialog.Doing:
		far := ""
		if e.Total > 0 {
			far = fmt.Sprintf(" %d/%d", e.Done, e.Total)
		}
		return sayWorks.In(e.Language, e.About) + far
	}
	return ""
}
