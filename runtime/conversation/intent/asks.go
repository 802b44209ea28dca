package intent

import (
	"strconv"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
)

// unclear asks for the meaning of an ambiguous value.
func (r *Reader) unclear(pr *verbs.Param, l values.Language, rd *values.Reading) Ask {
	speaks := r.speaks(l)
	q := Ask{Param: pr, Text: rd.Ask(speaks)}
	if rd.Problem == 0 && len(rd.Others) > 0 {
		for _, o := range rd.Offered() {
			q.offer(rd, o, speaks)
		}
	}
	return q
}

// either asks which of two values is meant for one argument.
func (r *Reader) either(pr *verbs.Param, l values.Language, all ...*values.Reading) Ask {
	q := Ask{Param: pr}
	speaks := r.speaks(l)
	for _, rd := range all {
		if !rd.Known() {
			// One of the two is ambiguous itself, so positions cannot be offered.
			q = Ask{Param: pr}
			break
		}
		q.offer(rd, rd.Choice, speaks)
	}
	q.Text = r.ask(l, askSeveral, pr, q.says)
	return q
}

// offer adds one meaning of an ambiguous value to the choices.
func (q *Ask) offer(rd *values.Reading, c values.Choice, l values.Language) {
	text := c.Text()
	if c.Value.Kind() == stores.Int || c.Value.Kind() == stores.Decimal {
		// Three digits after a point may be read as thousands; four cannot.
		if text = c.Value.Text(); len(text) > 4 && text[len(text)-4] == '.' {
			text += "0"
		}
		text = strings.TrimSpace(c.Currency + " " + text)
	}
	q.Choices, q.says = append(q.Choices, text), append(q.says, rd.SayChoice(c, l))
}

// offeredAs is a number without the zero that offer adds to three digits after the point: nobody says
// 1.2340, and an amount may have no fourth digit.
func offeredAs(number string) string {
	if at := strings.IndexByte(number, '.'); at >= 0 && len(number) == at+5 {
		return strings.TrimSuffix(number, "0")
	}
	return number
}

// maxNames is the number of rows that a question offers.
const maxNames = 5

// which asks which of several rows is meant. It lists the first of those that the verb accepts, and
// the number of the others. (F27)
func (r *Reader) which(v *verbs.Verb, pr *verbs.Param, names []string, q question, l values.Language) Ask {
	names = r.usable(v, pr, names)
	choices := symbols(names[:min(len(names), maxNames)])
	a := Ask{Param: pr, Text: r.ask(l, q, pr, choices), Choices: choices}
	if more := len(names) - len(choices); more > 0 {
		a.Text += " " + askMore.In(r.speaks(l), strconv.Itoa(more))
	}
	return a
}

// usable lists the rows that the verb accepts, or all rows if it accepts none: then the refusal
// says why.
func (r *Reader) usable(v *verbs.Verb, pr *verbs.Param, names []string) []string {
	if r.in.Usable == nil || len(names) < 2 {
		return names
	}
	if left := r.in.Usable(v, pr, names); len(left) > 0 {
		return left
	}
	return names
}

func symbols(names []string) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = "@" + n
	}
	return all
}
