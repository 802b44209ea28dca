package tools

import (
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
)

// Codes of the problems that are found before a tool is called. Package engine
// documents them beside its own. CodeChanged means that the tool's description
// differs from the one that the operator accepted.
const (
	codeMissing    = "tool-missing"
	CodeUnreached  = "tool-unreached"
	codeUnaccepted = "tool-unaccepted"
	CodeChanged    = "tool-changed"
	codeWrites     = "tool-writes"
	codeMismatch   = "tool-mismatch"
)

func complain(code string, place dsl.Place, summary, next string) dsl.Diagnostic {
	return dsl.Diagnostic{Code: code, Summary: summary, Place: place, Notes: []string{next}}
}

// maxWords is the greatest repeated length of a tool's text.
const maxWords = 300

// Said appends a tool's text to a diagnostic, as a quotation.
func Said(says string, d dsl.Diagnostic) dsl.Diagnostic {
	says = strings.Join(strings.Fields(says), " ")
	if runes := []rune(says); len(runes) > maxWords {
		says = string(runes[:maxWords]) + "..."
	}
	if says != "" {
		d.Notes = append([]string{fmt.Sprintf("it says: %q", says)}, d.Notes...)
	}
	return d
}

func missing(v *verbs.Verb, err error) dsl.Diagnostic {
	return complain(codeMissing, v.Tool.Place, fmt.Sprintf("%s is carried out by a tool that is not there: %s", v.Name, err),
		"name a server of the configuration, and a tool that it has")
}

func unreached(v *verbs.Verb, err error) dsl.Diagnostic {
	return complain(CodeUnreached, v.Tool.Place, fmt.Sprintf("server %s, which carries out %s, cannot be asked: %s", v.Tool.Server, v.Name, err),
		"see that it runs, and that its configuration is right")
}

func unaccepted(v *verbs.Verb, says string) dsl.Diagnostic {
	return Said(says, complain(codeUnaccepted, v.Tool.Place, fmt.Sprintf("nobody has accepted %s of server %s yet", v.Tool.Name, v.Tool.Server),
		"read what it says of itself, then accept it: verbatim lint --servers FILE --accept"))
}

func changed(v *verbs.Verb, says string) dsl.Diagnostic {
	return Said(says, complain(CodeChanged, v.Tool.Place, fmt.Sprintf("%s of server %s says something else of itself than what was accepted", v.Tool.Name, v.Tool.Server),
		"it is not used until somebody has read what it says now and accepts it: verbatim lint --servers FILE --accept"))
}

func writes(v *verbs.Verb) dsl.Diagnostic {
	return complain(codeWrites, v.Tool.Place, fmt.Sprintf("%s is said to be read-only, and %s of server %s says that it is not", v.Name, v.Tool.Name, v.Tool.Server),
		"take read-only out, and say with confirm who agrees first")
}

func repeats(v *verbs.Verb) dsl.Diagnostic {
	return complain(codeMismatch, v.Tool.Place, fmt.Sprintf("%s is said to be idempotent, and server %s sends no key under which %s would act once", v.Name, v.Tool.Server, v.Tool.Name),
		"take idempotent out, or name with idempotency the header that the API reads such a key from")
}

func mismatch(v *verbs.Verb, place dsl.Place, why string, near []string) dsl.Diagnostic {
	d := complain(codeMismatch, place, fmt.Sprintf("%s and %s of server %s do not fit together: %s", v.Name, v.Tool.Name, v.Tool.Server, why),
		"change the palette, or have the tool changed")
	if len(near) > 0 {
		d.Label = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return d
}
