module world

go 1.26.0

require (
	github.com/emersion/go-message v0.18.2
	github.com/emersion/go-msgauth v0.7.0
	github.com/emersion/go-smtp v0.25.1
	golang.org/x/net v0.59.0
	verbatim v0.0.0
)

require (
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6 // indirect
	golang.org/x/crypto v0.57.0 // indirect
)

replace verbatim => ../../..
