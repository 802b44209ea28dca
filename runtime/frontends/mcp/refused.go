package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Messages that are refused before a method sees them. The library takes the last of two
// members with one name, and answers over HTTP in plain text, which clients of models take for
// a broken server.

// notTwice is the error for a repeated member: a proxy that checks the message may read another of
// the two values than we do.
const notTwice = "a member stands twice in the message"

// envelope is how deep once looks: batch, message, params, and objects in params.
const envelope = 4

// distinct reports whether no member of a message is repeated, at any depth. Arguments of tools are
// checked where they are read, so that a model is told; beside such arguments, members are checked
// down to envelope.
func distinct(text []byte) bool {
	at, err := strict(text)
	if errors.Is(err, jsontext.ErrDuplicateName) && !strings.Contains(string(at.JSONPointer), "/params/arguments/") {
		return false
	}
	return err == nil || once(text, envelope)
}

// strict reads a JSON value in valid Unicode with each member once.
func strict(text []byte) (at *jsontext.SyntacticError, err error) {
	_, err = jsontext.NewDecoder(bytes.NewReader(text)).ReadValue()
	errors.As(err, &at)
	return at, err
}

// once reports whether no member is repeated, down to a depth, apart from arguments.
func once(text []byte, deep int) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	open, err := dec.Token()
	if deep == 0 || err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return true
	}
	had := map[any]bool{}
	for dec.More() {
		var name any
		if open == json.Delim('{') {
			if name, err = dec.Token(); err != nil || had[name] {
				return false
			}
			had[name] = true
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil || name != "arguments" && !once(value, deep-1) {
			return false
		}
	}
	return true
}

// A refusing turns refusals that the library writes in plain text into errors of JSON-RPC.
type refusing struct {
	http.ResponseWriter
	message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	status int // of a refusal that is about to be written
}

// reads returns the message of a request, and reports whether it may go on.
func (f *refusing) reads(r *http.Request) (text []byte, ok bool) {
	if r.Method != http.MethodPost {
		return nil, true
	}
	text, err := io.ReadAll(r.Body)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		f.refuse(http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest, "the message is too long")
	case err != nil || !json.Valid(text):
		f.refuse(http.StatusBadRequest, jsonrpc.CodeParseError, "that is no JSON, or it broke off")
	case !distinct(text):
		f.refuse(http.StatusBadRequest, jsonrpc.CodeInvalidRequest, notTwice)
	default:
		_ = json.Unmarshal(text, &f.message) // the library refuses it if it is no message
		r.Body = io.NopCloser(bytes.NewReader(text))
		return text, true
	}
	return nil, false
}

// WriteHeader implements http.ResponseWriter.
func (f *refusing) WriteHeader(status int) {
	if status >= 400 && strings.HasPrefix(f.Header().Get("Content-Type"), "text/plain") {
		f.status = status
		return
	}
	f.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (f *refusing) Write(b []byte) (int, error) {
	if f.status == 0 {
		return f.ResponseWriter.Write(b)
	}
	status, code, text := f.status, int64(jsonrpc.CodeInvalidRequest), strings.TrimSpace(string(b))
	if strings.HasSuffix(text, strconv.Quote(f.message.Method)+" unsupported") {
		code, text = jsonrpc.CodeMethodNotFound, "there is no method "+strconv.Quote(f.message.Method)
		if len(f.message.ID) > 0 {
			status = http.StatusOK // before 2026-07-28 an answer of JSON-RPC is one, whatever it says
		}
	}
	f.refuse(status, code, text)
	return len(b), nil
}

func (f *refusing) refuse(status int, code int64, text string) {
	f.status = 0
	f.Header().Set("Content-Type", "application/json")
	f.ResponseWriter.WriteHeader(status)
	id := f.message.ID
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	_ = json.NewEncoder(f.ResponseWriter).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": jsonrpc.Error{Code: code, Message: text}})
}

// Unwrap lets http.ResponseController reach the connection.
func (f *refusing) Unwrap() http.ResponseWriter { return f.ResponseWriter }
