package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Servers that do not know a model's own way to call pass its calls on as text. The ways, and the
// models that have them:
//
//	<tool_call>{"name": …, "arguments": {…}}</tool_call>      Hermes, Qwen; <TOOLCALL>[…] Nemotron, <tool_calls>[…] Jamba
//	<tool_call><function=NAME><parameter=KEY>VALUE…           Qwen3-Coder
//	<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE…    GLM 4.5
//	<invoke name="NAME"><parameter name="KEY">VALUE…          MiniMax M2
//	<function=NAME>{…}</function>, <|python_tag|>{…}          Llama 3
//	[TOOL_CALLS][{…}], [TOOL_CALLS]NAME[ARGS]{…}              Mistral
//	<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{…}<|tool_call_end|>  Kimi K2
//	<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>   DeepSeek
//	<|channel|>commentary to=functions.NAME<|message|>{…}<|call|>                        gpt-oss
//	<|START_ACTION|>[{"tool_name": …, "parameters": {…}}]     Command R
//	<|action_start|><|plugin|>{…}<|action_end|>               InternLM
//	a fence, or the JSON alone

// expression makes an expression when it is first used.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	// thoughts stand before an answer, in the marks of the model; some templates begin them in the prompt.
	thoughts = expression(`(?s)^\s*(?:<think(?:ing)?>(.*?)(?:</think(?:ing)?>|$)|(.*?\n|)</think(?:ing)?>\s*(?:\n|$))`)
	// ends are marks behind an answer.
	ends   = expression(`(?:\s|<\|(?:eom_id|eot_id|im_end|end|return|endoftext)\|>|</s>|<end_of_turn>|<｜end▁of▁sentence｜>)+$`)
	fenced = expression("(?s)^\\s*```(?:json)?[ \\t]*\\n(.*?)\\n[ \\t]*```\\s*$")
	// sections stand around calls, and say nothing.
	sections = expression(`<\|tool_calls_section_(?:begin|end)\|>|<｜tool▁calls▁(?:begin|end)｜>|<｜end▁of▁sentence｜>|</?(?:(?:minimax|seed):tool_call|function_calls)>|<\|/tool_call\|>|<\|(?:START|END)_ACTION\|>|<\|action_(?:start|end)\|>|<\|plugin\|>`)
	// Each form has the groups name and inner: the arguments, or with no name the whole call.
	forms = []func() *regexp.Regexp{
		expression(`(?is)^<(?:tool_?calls?|function_?calls?|tools?)>\s*(?P<inner>[\[{].*?)</(?:tool_?calls?|function_?calls?|tools?)>`),
		expression(`(?s)^(?:<tool_call>\s*)?<function=(?P<name>[^>\s]+)>(?P<inner>.*?)</function>(?:\s*</tool_call>)?`),
		expression(`(?s)^<tool_call>\s*(?P<name>[^<{\s]+)(?P<inner>.*?)</tool_call>`),
		expression(`(?s)^<invoke name="(?P<name>[^"]+)">(?P<inner>.*?)</invoke>`),
		expression(`(?s)^<\|tool_call_begin\|>\s*(?P<name>[^<]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>(?P<inner>.*?)<\|tool_call_end\|>`),
		expression("(?s)^<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>[^<\\s]+)(?:<｜tool▁sep｜>|\\s*```json)(?P<inner>.*?)(?:```\\s*)?<｜tool▁call▁end｜>"),
		expression("(?s)^```(?:json|tool_call|tool_code)?[ \\t]*\\n(?P<inner>.*?)\\n```"),
		expression(`(?s)^\[TOOL_CALLS\](?P<name>[\w.-]+)\[ARGS\](?P<inner>\{.*?\})\s*(?:$|\[TOOL_CALLS\]())`),
		expression(`(?s)^(?:\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_call\|>)(?P<inner>.*)$`),
	}
	parameter = expression(`(?s)^(?:<parameter=(?P<a>[^>\s]+)>(?P<av>.*?)</parameter>|<parameter name="(?P<b>[^"]+)">(?P<bv>.*?)</parameter>|<arg_key>(?P<c>.*?)</arg_key>\s*<arg_value>(?P<cv>.*?)</arg_value>)\s*`)
	channels  = expression(`(?s)^(?:<\|start\|>)?(?P<to>[^<]*)<\|channel\|>(?P<channel>[^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>(?P<said>.*?)(?:<\|(?:end|call|return)\|>\s*|$)`)
	recipient = expression(`to=(\S+)`)
)

// tidy takes out of an answer's text what is none of it: the thoughts before it, the marks of its end,
// and, where JSON was asked for, a fence around it.
func (r *Reply) tidy(isJSON bool) {
	if m := thoughts().FindStringSubmatchIndex(r.Text); m != nil {
		r.Reasoning = cmp.Or(r.Reasoning, kept(strings.TrimSpace(thoughts().ReplaceAllString(r.Text[:m[1]], "$1$2"))))
		r.Text = strings.TrimLeft(r.Text[m[1]:], "\r\n")
	}
	if end := ends().FindString(r.Text); strings.TrimSpace(end) != "" {
		r.Text = strings.TrimSuffix(r.Text, end)
	}
	if m := fenced().FindStringSubmatch(r.Text); m != nil && isJSON {
		r.Text = m[1]
	}
}

// inText reads a text that is nothing but calls of these tools, or the channels of gpt-oss. A call that
// is quoted among other words is none: it may be somebody else's.
func inText(text string, tools []Tool) (calls []ToolCall, rest string) {
	left := strings.TrimSpace(text)
	if strings.Contains(left, "<|channel|>") {
		return inChannels(left, tools)
	}
	left = strings.TrimSpace(sections().ReplaceAllString(left, ""))
	for left != "" {
		name, inner, after := "", left, ""
		for _, form := range forms {
			if m := form().FindStringSubmatchIndex(left); m != nil {
				name, inner, after = group(form(), left, m, "name"), group(form(), left, m, "inner"), left[m[1]:]
				if last := m[len(m)-2]; name != "" && last >= 0 && last == m[1] {
					after = "[TOOL_CALLS]" + after // it begins the next
				}
				break
			}
		}
		of := toolCalls(name, strings.TrimSpace(inner), tools)
		if len(of) == 0 {
			return nil, text
		}
		calls, left = append(calls, of...), strings.TrimSpace(after)
	}
	return calls, text
}

func group(e *regexp.Regexp, text string, m []int, name string) string {
	i := e.SubexpIndex(name)
	if i < 0 || m[2*i] < 0 {
		return ""
	}
	return text[m[2*i]:m[2*i+1]]
}

// inChannels reads what a model said in channels: thoughts, calls, and what is for the person.
func inChannels(text string, tools []Tool) (calls []ToolCall, said string) {
	for left := text; left != ""; {
		m := channels().FindStringSubmatchIndex(left)
		if m == nil {
			return nil, text
		}
		channel, body := group(channels(), left, m, "channel"), group(channels(), left, m, "said")
		switch to := recipient().FindStringSubmatch(group(channels(), left, m, "to") + " " + channel); {
		case to != nil:
			of := toolCalls(to[1], strings.TrimSpace(body), tools)
			if len(of) == 0 {
				return nil, text
			}
			calls = append(calls, of...)
		case !strings.HasPrefix(channel, "analysis"):
			said += body
		}
		left = left[m[1]:]
	}
	return calls, said
}

// toolCalls reads a call of which the name is known, or else one or several in JSON.
func toolCalls(name, text string, tools []Tool) (calls []ToolCall) {
	if name != "" {
		name = strings.TrimPrefix(name, "functions.")
		tool := toolOf(name, tools)
		args := text
		if tool != nil && !strings.HasPrefix(text, "{") {
			args = tool.written(text)
		}
		if tool == nil || !json.Valid([]byte(args)) {
			return nil
		}
		return []ToolCall{{Name: name, Arguments: args}}
	}
	type written struct {
		Name       string          `json:"name"`
		ToolName   string          `json:"tool_name"` // of Command R
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
		args, name := w.Arguments, cmp.Or(w.Name, w.ToolName)
		if args == nil {
			args = w.Parameters
		}
		if args == nil || toolOf(name, tools) == nil {
			return nil
		}
		calls = append(calls, ToolCall{Name: name, Arguments: string(args)})
	}
	return calls
}

func toolOf(name string, tools []Tool) *Tool {
	for i := range tools {
		if tools[i].Name == strings.TrimPrefix(name, "functions.") {
			return &tools[i]
		}
	}
	return nil
}

// written returns arguments that are written as parameters in tags, as JSON. Their values have no
// type: one that the schema lets be a text is a text. "" is none.
func (t *Tool) written(text string) string {
	value, err := ordered(t.Parameters)
	schema, _ := value.(*object)
	if err != nil {
		return ""
	}
	args := &object{}
	for text != "" {
		m := parameter().FindStringSubmatchIndex(text)
		if m == nil {
			return ""
		}
		for _, g := range []string{"a", "b", "c"} {
			key, is := group(parameter(), text, m, g), strings.TrimSpace(group(parameter(), text, m, g+"v"))
			switch {
			case key == "":
			case json.Valid([]byte(is)) && !mayBeText(child(child(schema, "properties"), key)):
				args.set(key, json.RawMessage(is))
			default:
				args.set(key, is)
			}
		}
		text = text[m[1]:]
	}
	is, err := json.Marshal(args)
	if err != nil {
		return ""
	}
	return string(is)
}

func mayBeText(schema *object) bool {
	text, err := json.Marshal(schema)
	return err == nil && schema != nil && (bytes.Contains(text, []byte(`"string"`)) || schema.at("enum") >= 0)
}
