package mcp

import "testing"

// What is no message of JSON-RPC is refused before the library reads it: it would end the connection,
// or answer another id than the one that was sent.
func TestWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                  true,
		`{"jsonrpc":"2.0","id":-1,"method":"ping"}`:                 true,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`:                true,
		`{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`:   true,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:   false,
		`{"jsonrpc":"2.0","id":7.9,"method":"ping"}`:                false,
		`{"jsonrpc":"2.0","id":7.0,"method":"ping"}`:                false,
		`{"jsonrpc":"2.0","id":7e1,"method":"ping"}`:                false,
		`{"jsonrpc":"2.0","id":99999999999999999999,"method":"x"}`:  false,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:               false,
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`:                false,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:    true,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                      true,
		`{"jsonrpc":"2.0","id":1}`:                                  false,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                  false,
		`{"id":1,"method":"ping"}`:                                  false,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":""}}`: true,
	} {
		if got := isMessage([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
