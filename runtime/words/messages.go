package words

import (
	"strconv"
	"strings"
)

// What a person is told and asked, in their language. {} is what belongs to it.

var problemWords = [...]Sentence{
	NoSuchDay:    {"There is no such day in the calendar. Please check the date.", "Diesen Tag gibt es im Kalender nicht. Bitte prüfen Sie das Datum.", "Ce jour n’existe pas dans le calendrier. Vérifiez la date, s’il vous plaît.", "Ese día no existe en el calendario. Por favor, revise la fecha."},
	WrongWeekday: {"That date is not a {}. Which of the two is right?", "Dieser Tag ist kein {}. Was von beidem stimmt?", "Cette date n’est pas un {}. Lequel des deux est juste ?", "Esa fecha no es {}. ¿Cuál de los dos es correcto?"},
	Hidden:       {"There are characters in it that cannot be seen. Please type it again.", "Darin stehen Zeichen, die man nicht sieht. Bitte tippen Sie es noch einmal.", "Il y a des caractères invisibles. Saisissez-le à nouveau, s’il vous plaît.", "Contiene caracteres que no se ven. Por favor, escríbalo de nuevo."},
	Unread:       {"I understood only a part of that. Please say it in another way.", "Das habe ich nur zum Teil verstanden. Bitte sagen Sie es anders.", "Je n’ai compris qu’une partie. Dites-le autrement, s’il vous plaît.", "Solo he entendido una parte. Por favor, dígalo de otra manera."},
	Negated:      {"That says when it is not. When is it?", "Das sagt, wann es nicht ist. Wann ist es?", "Cela dit quand ce n’est pas. Quand est-ce ?", "Eso dice cuándo no es. ¿Cuándo es?"},
	Spread:       {"That is more than one. Which one is meant?", "Das sind mehrere. Welches ist gemeint?", "Il y en a plusieurs. Lequel voulez-vous dire ?", "Son varios. ¿Cuál quiere decir?"},
	Checksum:     {"The check digits of that number do not fit. Please check it.", "Die Prüfziffern dieser Nummer passen nicht. Bitte prüfen Sie sie.", "Les chiffres de contrôle de ce numéro ne correspondent pas. Vérifiez-le, s’il vous plaît.", "Los dígitos de control de ese número no son correctos. Por favor, revíselo."},
	NoCountry:    {"Which country is that number in? Please begin it with + and the country's code.", "In welchem Land ist diese Nummer? Bitte beginnen Sie sie mit + und der Vorwahl des Landes.", "Dans quel pays est ce numéro ? Commencez-le par + et l’indicatif du pays, s’il vous plaît.", "¿De qué país es ese número? Por favor, empiécelo con + y el código del país."},
	TooEarly:     {"That is too early. Please check the date.", "Das ist zu früh. Bitte prüfen Sie das Datum.", "C’est trop tôt. Vérifiez la date, s’il vous plaît.", "Es demasiado pronto. Por favor, revise la fecha."},
	TooLate:      {"That is too late. Please check the date.", "Das ist zu spät. Bitte prüfen Sie das Datum.", "C’est trop tard. Vérifiez la date, s’il vous plaît.", "Es demasiado tarde. Por favor, revise la fecha."},
	TooOld:       {"That would make an age of {}. Please check the year.", "Das ergäbe ein Alter von {} Jahren. Bitte prüfen Sie das Jahr.", "Cela ferait {} ans. Vérifiez l’année, s’il vous plaît.", "Eso daría una edad de {} años. Por favor, revise el año."},
	NotBorn:      {"That day is still to come. Please check the year.", "Dieser Tag kommt erst noch. Bitte prüfen Sie das Jahr.", "Ce jour est encore à venir. Vérifiez l’année, s’il vous plaît.", "Ese día aún no ha llegado. Por favor, revise el año."},
	NotWhole:     {"Please say the day, the month and the year, with all four digits of the year.", "Bitte nennen Sie Tag, Monat und Jahr, das Jahr mit allen vier Ziffern.", "Indiquez le jour, le mois et l’année, avec les quatre chiffres de l’année, s’il vous plaît.", "Por favor, diga el día, el mes y el año, con las cuatro cifras del año."},
}

var choiceWords = [4][3]string{
	English: {"Is that ", ", ", " or "},
	German:  {"Ist das ", ", ", " oder "},
	French:  {"Est-ce ", ", ", " ou "},
	Spanish: {"¿Es ", ", ", " o "},
}

var endOfQuestion = [...]string{English: "?", German: "?", French: Typeset(French, " ?"), Spanish: "?"}

// maxOffered is how many choices a question names.
const maxOffered = 5

// Ask is what to ask the person where a reading has no value: "Is that 3 April
// 1972 or 4 March 1972?" It is "" where it has one.
func (r *Reading) Ask(l Language) string {
	switch {
	case r.Known():
		return ""
	case r.Problem != 0:
		detail := strconv.Itoa(r.Detail)
		if r.Problem == WrongWeekday && 1 <= r.Detail && r.Detail <= 7 {
			detail = strings.Fields(weekdayNames[l])[r.Detail-1]
		}
		return problemWords[r.Problem].In(l, detail)
	case len(r.Others) == 0:
		return problemWords[Unread].In(l)
	}
	w := choiceWords[l]
	var b strings.Builder
	b.WriteString(w[0])
	offered := r.Offered()
	for i, c := range offered {
		switch {
		case i == 0:
		case i == len(offered)-1:
			b.WriteString(w[2])
		default:
			b.WriteString(w[1])
		}
		b.WriteString(r.SayChoice(c, l))
	}
	b.WriteString(endOfQuestion[l])
	return b.String()
}

// Offered are the choices that Ask names, in their order.
func (r *Reading) Offered() []Choice { return r.Others[:min(len(r.Others), maxOffered)] }

// SayChoice says a choice as Ask does.
func (r *Reading) SayChoice(c Choice, l Language) string {
	switch {
	case c.Value.Kind() == 0:
		return ""
	case r.What == Date && r.Kind != Exact:
		return SayDay(c.Value, l)
	}
	return c.Say(l)
}

var assumptionWords = [...]Sentence{
	{"the next such day", "der nächste solche Tag", "le prochain jour de ce genre", "el próximo día así"},
	{"the last working day of it", "der letzte Arbeitstag davon", "le dernier jour ouvré", "el último día laborable"},
	{"the day before the month", "der Tag vor dem Monat", "le jour avant le mois", "el día antes del mes"},
	{"the last day of that month", "der letzte Tag jenes Monats", "le dernier jour de ce mois", "el último día de ese mes"},
	{"thousands divided as is usual", "Tausender wie üblich getrennt", "milliers séparés comme d’usage", "miles separados como es habitual"},
}

// Say says what was assumed.
func (a Assumption) Say(l Language) string {
	var all []string
	for i := range assumptionWords {
		if a&(1<<i) != 0 {
			all = append(all, assumptionWords[i].In(l))
		}
	}
	return strings.Join(all, ", ")
}

var problemNames = [...]string{"", "no-such-day", "wrong-weekday", "hidden-characters", "not-understood", "negated", "several", "check-digits", "no-country", "too-early", "too-late", "too-old", "not-born", "not-whole"}

// String is the problem's code: "no-such-day".
func (p Problem) String() string { return problemNames[p] }
