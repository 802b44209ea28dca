package channel

import "verbatim/runtime/conversation/values"

// Sentences for people on channels.
const (
	sayStranger words.Key = "channel/stranger"
	sayAudio    words.Key = "channel/audio"
	sayVideo    words.Key = "channel/video"
	sayLocation words.Key = "channel/location"
	sayContacts words.Key = "channel/contacts"
	sayInvite   words.Key = "channel/invite"
	sayUnknown  words.Key = "channel/unknown"
	sayUnsure   words.Key = "channel/unsure"
	sayEmpty    words.Key = "channel/empty"
	sayTooMany  words.Key = "channel/too-many"
	sayNoFiles  words.Key = "channel/no-files"
	sayRefused  words.Key = "channel/refused"
	sayAnswered words.Key = "channel/answered"
	sayNotOpen  words.Key = "channel/not-open"
	sayYes      words.Key = "channel/yes"
	sayNo       words.Key = "channel/no"
	sayHereIs   words.Key = "chat/here-is"
	sayCode     words.Key = "channel/code"
	sayAgreed   words.Key = "channel/agreed"
	sayDeclined words.Key = "channel/declined"
	sayLapsed   words.Key = "channel/lapsed"
	sayVerified words.Key = "channel/verified"
	sayRevoked  words.Key = "channel/revoked"
	saySubject  words.Key = "channel/subject"
)
