package whatsapp

import (
	"fmt"
	"net/http"
	"strconv"

	"verbatim/runtime/frontends/channel"
)

// Codes after which a number is tried in its other spelling.
const (
	codeUndeliverable = "131026"
	codeNotListed     = "131030"
)

// failure describes a code, or an answer without one. The status is 0 if WhatsApp reported the code
// later. WhatsApp's own text is left out, since it may repeat the message.
func failure(status, code int) *channel.Failure {
	f := &channel.Failure{Code: strconv.Itoa(code)}
	var text string
	switch code {
	case 131047:
		text, f.Closed = "they have not written for a day, so only a template is delivered", true
	case 131026:
		text, f.Permanent = "it cannot be delivered to them", true
	case 131030:
		text, f.Permanent = "they are not on the list of a number for tests", true
	case 131062:
		text, f.Permanent = "it cannot be sent to an id in place of a number", true
	case 130472:
		text, f.Permanent = "they are part of an experiment, and get none of this kind for now", true
	case 131049:
		text, f.Permanent = "it is withheld for now, since they get many", true
	case 130429:
		text = "too many messages at once"
	case 131056:
		text = "too many messages to one person at once"
	case 131048:
		text = "sending is restrained, since many were reported or blocked; the operator has to look"
	case 190:
		text = "the token is not accepted; the operator has to look"
	case 0:
		f.Code = strconv.Itoa(status)
	}
	switch {
	case text != "":
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		text = "the token is not accepted; the operator has to look"
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		text = "it cannot be had at the moment"
	case status >= 400:
		text, f.Permanent = "it is refused", true
	default:
		text = "it was not sent"
	}
	f.Text = fmt.Sprintf("WhatsApp: %s (%s)", text, f.Code)
	return f
}

// lasting returns a failure of our own, which a second try does not mend.
func lasting(code, text string) *channel.Failure {
	return &channel.Failure{Code: code, Text: text, Permanent: true}
}
