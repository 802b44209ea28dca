package llm

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Servers that do not know a model's own way to call pass its calls on as text: Hermes and Qwen write
// <tool_call>{"name": …, "arguments": {…}}</tool_call>, Mistral [TOOL_CALLS][{…}], others a fence.

var (
	thoughts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^\s*<think(?:ing)?>.*?</think(?:ing)?>`) })
	wrapping = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?s)^\\s*(?:<(tool_call|function_call|tool|tools)>(.*?)</(?:tool_call|function_call|tool|tools)>|```(?:json|tool_call|tool_code)?[ \\t]*\\n(.*?)\\n```|\\[TOOL_CALLS\\](.*)$)")
	})
)

// callsInText returns the calls of a text that is nothing but calls of these tools. A call that is
// quoted among other words is none: it may be somebody else's.
func callsInText(text string, tools []Tool) (calls []ToolCall) {
	rest := strings.TrimSpace(thoughts().ReplaceAllString(text, ""))
	for rest != "" {
		inner := rest
		if m := wrapping().FindStringSubmatch(rest); m != nil {
			inner, rest = m[2]+m[3]+m[4], strings.TrimSpace(rest[len(m[0]):])
		} else {
			rest = ""
		}
		of := toolCalls(strings.TrimSpace(inner), tools)
		if len(of) == 0 {
			return nil
		}
		calls = append(calls, of...)
	}
	return calls
}

func toolCalls(text string, tools []Tool) (calls []ToolCall) {
	type written struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	var all []written
	var one written
	if json.Unmarshal([]byte(text), &all) != nil {
		if json.Unmarshal([]byte(text), &one) != nil {
			return nil
		}
		all = []written{one}
	}
	for _, w := range all {
		args := w.Arguments
		if args == nil {
			args = w.Parameters
		}
		if args == nil || !isTool(w.Name, tools) {
			return nil
		}
		calls = append(calls, ToolCall{Name: w.Name, Arguments: string(args)})
	}
	return calls
}

func isTool(name string, tools []Tool) bool {
	for i := range tools {
		if tools[i].Name == strings.TrimPrefix(name, "functions.") {
			return true
		}
	}
	return false
}
