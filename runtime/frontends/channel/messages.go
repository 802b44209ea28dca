package channel

import "verbatim/runtime/conversation/values"

// Sentences for people on channels.
const (
	sayStranger values.Key = "channel/stranger"
	sayAudio    values.Key = "channel/audio"
	sayVideo    values.Key = "channel/video"
	sayLocation values.Key = "channel/location"
	sayContacts values.Key = "channel/contacts"
	sayInvite   values.Key = "channel/invite"
	sayUnknown  values.Key = "channel/unknown"
	sayUnsure   values.Key = "channel/unsure"
	sayOther    values.Key = "channel/other"
	sayEmpty    values.Key = "channel/empty"
	sayTooMany  values.Key = "channel/too-many"
	sayNoFiles  values.Key = "channel/no-files"
	sayRefused  values.Key = "channel/refused"
	sayAnswered values.Key = "channel/answered"
	sayNotOpen  values.Key = "channel/not-open"
	sayYes      values.Key = "channel/yes"
	sayNo       values.Key = "channel/no"
	sayHereIs   values.Key = "chat/here-is"
	sayCode     values.Key = "channel/code"
	sayAgreed   values.Key = "channel/agreed"
	sayDeclined values.Key = "channel/declined"
	sayLapsed   values.Key = "channel/lapsed"
	sayVerified values.Key = "channel/verified"
	sayRevoked  values.Key = "channel/revoked"
	saySubject  values.Key = "channel/subject"
)
