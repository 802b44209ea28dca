package message

import "slices"

// Takes returns how many arguments an entry needs.
func (m *Message) Takes() int {
	most := max(m.word, m.among)
	texts := slices.Concat([]string{m.summary, m.label, m.kind}, m.notes, m.console)
	for _, r := range m.related {
		most = max(most, r.arg)
		texts = append(texts, r.says)
	}
	for _, text := range texts {
		for i := 1; i < len(text); i++ {
			if text[i-1] == '{' && '1' <= text[i] && text[i] <= '9' {
				most = max(most, int(text[i]-'0'))
			}
		}
	}
	return most
}
