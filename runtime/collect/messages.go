package collect

import (
	"fmt"
	"strings"
)

// What is said to the person who answers, to be read aloud together: sentences
// without a code, each of which says what would do. None quotes what was
// entered.

// masked stands for an answer that is not shown again.
const masked = "••••••"

func sayNothing(label string) string {
	return label + " is still missing. Write the answer, or skip the question for now."
}

func sayOneAnswer(label string) string {
	return label + " is one answer. Give it as text, not as a list or a map."
}

func sayTooLong(label string, limit int) string {
	return fmt.Sprintf("%s takes at most %d characters. Say it more briefly.", label, limit)
}

func sayUnreadable(label string) string {
	return label + " holds characters that cannot be read. Type it again."
}

func sayUnusable(label string) string {
	return label + " cannot be taken like this. Say it another way."
}

func sayNotUnderstood(label, example string) string {
	if example == "" {
		return label + " was not understood. Say it another way."
	}
	return fmt.Sprintf("%s was not understood. Write it like this: %s.", label, example)
}

func sayYesOrNo(label string) string { return label + ": please answer yes or no." }

func sayChoices(label string, choices []Option) string {
	var names []string
	for _, o := range choices {
		names = append(names, o.Label)
	}
	last := len(names) - 1
	if last == 0 {
		return fmt.Sprintf("%s: the answer can be %s.", label, names[0])
	}
	return fmt.Sprintf("%s: the answer is one of %s or %s.", label, strings.Join(names[:last], ", "), names[last])
}

func sayNotAsked(label string) string {
	return label + " is not asked with the answers so far. Change the answer that it depends on first."
}

func sayNoQuestion(near, names []string) string {
	if len(near) > 0 {
		return fmt.Sprintf("There is no such question. Did you mean %s?", near[0])
	}
	return fmt.Sprintf("There is no such question. These are asked: %s.", strings.Join(names, ", "))
}
