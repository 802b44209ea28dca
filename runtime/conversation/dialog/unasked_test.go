package dialog_test

import (
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/conversation/phrases"
)

// A model proposes a note. It is written at once only if the person said all of it; otherwise they
// are asked first, and nothing has changed. (G1)
func TestAModelWritesNothingUnasked(t *testing.T) {
	t.Parallel()
	const boiler = `house.note :repair-id @boiler `
	for name, c := range map[string]struct {
		before, say, call string
		asks              string // what the question says of it; "" where nothing is asked
	}{
		"the words themselves":         {"", "Note on the boiler: come at noon", boiler + `:note "come at noon"`, ""},
		"in another order and form":    {"", "Please note that the plumber is sending the spare part for the boiler on Friday", boiler + `:note "spare part: plumber sends it on Friday"`, "you have not said note"},
		"with other small words":       {"", "Please note that the plumber is sending the spare part for the boiler on Friday", boiler + `:note "plumber is sending a spare part on Friday"`, ""},
		"gossip before the order":      {"", "Between you and me, the plumber is hopeless. Please note that the part for the boiler comes at noon", boiler + `:note "the plumber is hopeless, the part for the boiler comes at noon"`, "the plumber is hopeless"},
		"the source left out":          {"", "Note sur le boiler : d'après le plombier, la pièce est là", boiler + `:note "la pièce est là"`, "plombier"},
		"a day from which is counted":  {"", "Note on the boiler: the plumber calls on 3 March 2025 and the part comes two days after that", boiler + `:note "the plumber calls on 3 March 2025 and the part comes two days after that" :expected 2025-03-03`, "you have not said expected"},
		"for a coming day":             {"", "On Monday I want this on the boiler: come at noon", boiler + `:note "come at noon"`, "Monday"},
		"perhaps, behind a dash":       {"", "Note on the boiler please - the plumber will perhaps come, perhaps not", boiler + `:note "the plumber will perhaps come, perhaps not"`, ""},
		"a quoted day of another's":    {"", "The plumber wrote to me on Monday, and I'd like his line on the boiler: 'the part comes in a week'", boiler + `:note "the part comes in a week" :expected 2025-01-03`, "you have not said expected"},
		"a name that is a day":         {"", "Note on the boiler: Mr Sunday brings the part", boiler + `:note "Mr Sunday brings the part" :expected 2024-12-29`, "you have not said expected"},
		"in German":                    {"", "Bitte notieren: der Klempner bringt das Ersatzteil für den boiler", boiler + `:note "Klempner bringt Ersatzteil"`, ""},
		"a day that the person said":   {"", "Please note that the part for the boiler comes on 3 March 2025", boiler + `:note "the part comes" :expected 2025-03-03`, ""},
		"a day as words say it":        {"", "Note that the part for the boiler comes tomorrow", boiler + `:note "the part comes" :expected 2024-12-28`, ""},
		"a row of the answer before":   {"Tell me about the boiler", "Note that the part comes tomorrow", boiler + `:note "the part comes tomorrow"`, ""},
		"rows in two sentences":        {"", "The boiler is warm again. Note on the kitchen: come at noon", `house.note :repair-id @kitchen-window :note "come at noon"`, ""},
		"a row that is left":           {"Note on the boiler: come at noon. And the kitchen?", "Write that they come at ten", `house.note :repair-id @kitchen-window :note "come at ten"`, ""},
		"a row that was not left":      {"Note on the boiler: come at noon", "Somebody should come at ten", `house.note :repair-id @kitchen-window :note "come at ten"`, "Kitchen Window"},
		"an invented text":             {"", "The boiler is still cold", boiler + `:note "the tenant has moved out"`, "you have not said"},
		"an invented day":              {"", "The part for the boiler comes soon", boiler + `:note "the part comes soon" :expected 2025-03-03`, "you have not said"},
		"one word too many":            {"", "The boiler is cold", boiler + `:note "the boiler is cold and dangerous"`, "you have not said"},
		"a no turned into a yes":       {"", "The part for the boiler has not arrived", boiler + `:note "the part has arrived"`, "you have not said"},
		"a yes turned into a no":       {"", "The part for the boiler has arrived", boiler + `:note "the part has not arrived"`, "you have not said"},
		"a day that was denied":        {"", "The part for the boiler comes, but not on 3 March 2025", boiler + `:note "the part comes" :expected 2025-03-03`, "you have not said"},
		"another row than the one":     {"", "Note on the boiler: come at noon", `house.note :repair-id @kitchen-window :note "come at noon"`, "Kitchen Window"},
		"a row that nobody named":      {"", "Somebody should come at noon", `house.note :repair-id @kitchen-window :note "come at noon"`, "Kitchen Window"},
		"a question":                   {"", "Is the boiler cold?", boiler + `:note "boiler cold"`, "you have not asked for a change"},
		"thanks":                       {"Note on the boiler: come at noon", "Thanks a lot!", boiler + `:note "come at noon"`, "you have not asked for a change"},
		"a greeting":                   {"", "Good morning", boiler + `:note "Good morning"`, "you have not asked for a change"},
		"a statement":                  {"", "We had tea by the boiler and it was lovely", boiler + `:note "tea by the boiler"`, "you have not asked for a change"},
		"a statement with a day":       {"", "On 3 March 2025 we have tea by the boiler", boiler + `:note "tea by the boiler" :expected 2025-03-03`, "you have not asked for a change"},
		"a text under a row's name":    {"", "The boiler: plumber rang at noon", boiler + `:note "plumber rang at noon"`, ""},
		"a letter that slipped":        {"", "Note on the boiler: the plumer rings at noon", boiler + `:note "the plumber rings at noon"`, ""},
		"an order of somebody else":    {"", "The landlord says please write on the boiler that it leaks", boiler + `:note "it leaks"`, "you have not asked for a change"},
		"the same for another row":     {"Note on the boiler: come at noon", "The same note for the kitchen window, please", `house.note :repair-id @kitchen-window :note "come at noon"`, ""},
		"the same again":               {"Note on the boiler: come at noon", "Same to you, and thanks", boiler + `:note "come at noon"`, "you have not asked for a change"},
		"the last change corrected":    {"Note on the boiler: come at noon", "Sorry, the note should say come at ten", boiler + `:note "come at ten"`, ""},
		"another's row in the text":    {"", "Please note on the boiler that the plumber of the kitchen window rings at noon", `house.note :repair-id @kitchen-window :note "the plumber of the kitchen window rings at noon"`, "Kitchen Window"},
		"a greeting drawn out":         {"", "heyy could u note on the boiler that it leaks?? ta x", boiler + `:note "it leaks"`, ""},
		"a past that supposes nothing": {"", "Please note on the boiler that he had it mended", boiler + `:note "he had it mended"`, ""},
		"not before a day":             {"", "Note on the boiler: the part will not come before 3 March 2025", boiler + `:note "the part will not come before 3 March 2025" :expected 2025-03-03`, "you have not said expected"},
		"a day that a letter counts":   {"", "Note on the boiler what he wrote on 20 December: the part comes in a week", boiler + `:note "the part comes in a week" :expected 2025-01-03`, "you have not said expected"},
		"a text begun in the order":    {"", "Note for the boiler: it will be mended", boiler + `:note "the boiler will be mended"`, "you also said"},
		"a question for an answer":     {"Write a note on the boiler, please", "hmm first tell me how long a note may be", boiler + `:note "hmm first tell me how long a note may be"`, "you have not asked for a change"},
		"a row that is not meant":      {"", "Not the boiler, the kitchen window: note come at noon", boiler + `:note "come at noon"`, "Boiler"},
		"a question without its mark":  {"", "is 3 March 2025 the day you have for the boiler", boiler + `:note "day for the boiler" :expected 2025-03-03`, "you have not asked for a change"},
		"a question that is an order":  {"", "Tell me, does it say on the boiler that it leaks?", boiler + `:note "it leaks"`, "you have not asked for a change"},
		"an order that is called off":  {"", "Note on the boiler: come at noon. Actually, forget I said that.", boiler + `:note "come at noon"`, "you have not asked for a change"},
		"an order not to be given yet": {"", "Please note nothing on the boiler yet, the plumber has not called", boiler + `:note "the plumber has not called"`, "you have not asked for a change"},
		"an order for another time":    {"", "One of these days I may ask you to note on the boiler that it leaks", boiler + `:note "it leaks"`, "you have not"},
		"an order in a letter":         {"", "The landlord's letter: write on the boiler that it leaks", boiler + `:note "it leaks"`, "you have not"},
		"that is all":                  {"", "Note on the boiler: come at noon. Nothing else.", boiler + `:note "come at noon"`, ""},
		"a word left out":              {"", "Note on the boiler: the plumber nearly mended the valve", boiler + `:note "the plumber mended the valve"`, "you also said"},
		"a word left out in front":     {"", "Note on the boiler: only the valve is missing", boiler + `:note "the valve is missing"`, "you also said"},
		"another title":                {"", "Note on the boiler: Mrs Hall rings at noon", boiler + `:note "Mr Hall rings at noon"`, "you have not said"},
		"no slip of a denial":          {"", "Note on the boiler: the plumber is there", boiler + `:note "the plumber is not there"`, "you have not said"},
		"quoted within an order":       {"", "Please add 'come at noon' to the boiler", boiler + `:note "come at noon"`, ""},
		"an order to leave it":         {"", "Please refrain from noting on the boiler that it leaks", boiler + `:note "it leaks"`, "you have not"},
		"a day that was not ordered":   {"", "3 March 2025 is for the heating. Note on the boiler that the part comes on 5 March 2025", boiler + `:note "the part comes" :expected 2025-03-03`, "you also said"},
		"a condition that is dictated": {"", "Please add this to the boiler: if it leaks, the plumber comes", boiler + `:note "if it leaks, the plumber comes"`, ""},
		"a sentence in marks":          {"", "Please write on the boiler: 'It leaks.' Nothing else.", boiler + `:note "It leaks."`, ""},
		"a brother for a sister":       {"", "Apunte para el boiler: lo trae su hermana", boiler + `:note "lo trae su hermano"`, "you have not said"},
		"if it should be so":           {"", "Should the plumber call, note on the boiler that it leaks", boiler + `:note "it leaks"`, "you have not"},
		"quoted behind an apostrophe":  {"", "Don't ring, just put 'come at noon' on the boiler", boiler + `:note "come at noon"`, ""},
		"a figure of before":           {"Tell me about the boiler: it has 2 valves", "I counted them myself, 5 it is. Note on the boiler how many valves it has", boiler + `:note "it has 2 valves"`, "you have not said"},
		"a name of before":             {"Tell me about the boiler: Ms Brandt brings the valve", "Correction, Ms Lang brings it. Note that on the boiler", boiler + `:note "Ms Brandt brings the valve"`, "you have not said"},
		"when something has happened":  {"", "Once our plumber has rung, note on the boiler that it leaks", boiler + `:note "it leaks"`, "you have not"},
		"what somebody else wants":     {"", "My landlord wants a note on the boiler that it leaks, but I am against it", boiler + `:note "it leaks"`, "you have not"},
		"a second thought":             {"", "Note on the boiler that it leaks... no, hang on, I have to check", boiler + `:note "it leaks"`, "you have not"},
		"all but some":                 {"", "Note on the boiler: all valves except those of 2020 are tight", boiler + `:note "all valves are tight"`, "you also said"},
		"an afterthought":              {"", "Note on the boiler: come at noon. By then I shall know more", boiler + `:note "come at noon"`, "you also said"},
		"a day for the order":          {"", "Tomorrow please note on the boiler: come at noon", boiler + `:note "come at noon"`, "you also said “Tomorrow”"},
		"whose words they are":         {"", "Note on the boiler that, as the tenant sees it, the valve leaks", boiler + `:note "the valve leaks"`, "you also said"},
		"who does what":                {"", "Note on the boiler: the tenant rings the plumber", boiler + `:note "the plumber rings the tenant"`, "you have not said note"},
		"who does what in German":      {"", "Notiere zum boiler: der Mieter wartet auf den Klempner", boiler + `:note "der Klempner wartet auf den Mieter"`, "you have not said"},
		"a day of something else":      {"", "Note on the boiler that the tenant goes abroad on 3 March 2025", boiler + `:note "the tenant goes abroad on 3 March 2025" :expected 2025-03-03`, "you have not said expected"},
		"another time":                 {"", "Note on the boiler: the plumber will mend it", boiler + `:note "the plumber mended it"`, "you have not said note"},
		"thanks at the end":            {"", "Note on the boiler: come at noon. Many thanks and all the best", boiler + `:note "come at noon"`, ""},
		"what is to be asked":          {"", "Please ask on the boiler whether it leaks", boiler + `:note "it leaks"`, "you have not"},
		"how it would be done":         {"", "How would one note on the boiler that it leaks?", boiler + `:note "it leaks"`, "you have not"},
		"what is asked is no fact":     {"", "Put to the landlord about the boiler: are two valves enough?", boiler + `:note "two valves are enough"`, "you also said"},
		"which of two":                 {"How are the boiler and the kitchen window?", "Note for it: come at noon", `house.note :repair-id @kitchen-window :note "come at noon"`, "Kitchen Window"},
		"a row that is denied":         {"", "Not for the boiler, for the other one: please note that it leaks", boiler + `:note "it leaks"`, "Boiler"},
		"a limit left out":             {"", "Note on the boiler: mend the valves from before 2018", boiler + `:note "mend the valves from 2018"`, "you also said"},
		"another order behind it":      {"", "Note on the boiler that it leaks. I want to count the valves carefully", boiler + `:note "it leaks"`, "you also said"},
		"an order at the end":          {"", "The boiler: it leaks again. Could you let them know please?", boiler + `:note "it leaks again"`, ""},
		"an aside in the middle":       {"", "Note on the boiler that it leaks. Between us, the tenant broke it", boiler + `:note "it leaks, the tenant broke it"`, "you also said"},
		"a correction said whole":      {"", "Note on the boiler that it drips. Sorry, it leaks, it leaks in the cellar", boiler + `:note "it leaks in the cellar"`, ""},
		"another thing of theirs":      {"", "Put a note on the boiler's guarantee that it leaks", boiler + `:note "it leaks"`, "you also said"},
		"a denial in another text":     {"", "Note on the boiler that it does not leak, and on the kitchen window that it is wet", boiler + `:note "it does not leak"` + "\n" + `house.note :repair-id @kitchen-window :note "it is wet"`, ""},
		"a month is no day":            {"", "Note on the boiler that the part comes some time in January", boiler + `:note "the part comes some time in January" :expected 2025-01-31`, "you have not said expected"},
		"where only they look":         {"", "Put in my calendar about the boiler that it leaks", boiler + `:note "it leaks"`, "you also said"},
		"what they had noted before":   {"", "Last week I had you note on the boiler that it leaks", boiler + `:note "it leaks"`, "you have not asked"},
		"what another verb would do":   {"", "Ask the landlord about the boiler: would a new valve do?", boiler + `:note "would a new valve do?"`, "you have not asked"},
		"a condition in German":        {"", "Zum boiler bitte notieren: Falls das Ventil tropft, rufen wir an", boiler + `:note "Das Ventil tropft, wir rufen an"`, "Sie haben auch gesagt"},
		"a request in form a question": {"", "Could you note on the boiler: come at noon?", boiler + `:note "come at noon"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "house")
			m := answers(calls(c.call), "What else?")
			if c.before != "" {
				first := `house.read-letters :repair-id @boiler`
				if strings.HasPrefix(c.before, "Note") {
					first = boiler + `:note "come at noon"`
				}
				m = answers(calls(first), "I see.", calls(c.call), "What else?")
			}
			talk := h.talk(m, func(o *dialog.Options) {
				o.Interpreter = phrases.New(h.reg, intent.New(h.reg), o.Session, h.clock, time.UTC)
			})
			if c.before != "" {
				talk.say(c.before)
			}
			state := h.state()
			a := talk.say(c.say)
			switch asked := len(a.Open) > 0; {
			case asked != (c.asks != ""):
				t.Fatalf("asks: %v; told %q", asked, a.Text)
			case asked && (h.state() != state || !strings.Contains(a.Text, c.asks)):
				t.Errorf("told %q", a.Text)
			case !asked && h.state() == state:
				t.Errorf("nothing was written; told %q", a.Text)
			}
		})
	}
}

// What was said of another change, or on another day, makes no repeated one. (G1)
func TestARepeatedChangeIsAskedAbout(t *testing.T) {
	t.Parallel()
	const noon = `house.note :repair-id @boiler :note "come at noon" :expected 2024-12-28`
	for name, c := range map[string]struct {
		between, say, call string
		days               int
		asks               bool
	}{
		"the same note for another row": {"", "The same note for the kitchen window, please", `house.note :repair-id @kitchen-window :note "come at noon" :expected 2024-12-28`, 0, false},
		"with a turn between":           {"How is it going?", "Change the boiler, please", noon, 0, true},
		"on the next day":               {"", "The same note for the kitchen window, tomorrow, please", `house.note :repair-id @kitchen-window :note "come at noon" :expected 2024-12-28`, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "house")
			all := []string{calls(noon), "I see."}
			if c.between != "" {
				all = append(all, tells("@boiler.status"))
			}
			days := 0
			talk := h.talk(answers(append(all, calls(c.call), "What else?")...), func(o *dialog.Options) {
				o.Clock = func() time.Time { return h.clock().AddDate(0, 0, days) }
				o.Interpreter = phrases.New(h.reg, intent.New(h.reg), o.Session, o.Clock, time.UTC)
			})
			talk.say("Note on the boiler: come at noon, tomorrow")
			if c.between != "" {
				talk.say(c.between)
			}
			days = c.days
			if a := talk.say(c.say); len(a.Open) > 0 != c.asks {
				t.Errorf("asks: %v; told %q", len(a.Open) > 0, a.Text)
			}
		})
	}
}

// What is stored is what the person wrote, also where a model mends their spelling. (G1)
func TestWordsAreStoredAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	h.talk(answers(calls(`house.note :repair-id @boiler :note "the plumber, Mr Okafer, rings"`), "What else?"), nil).say("Note on the boiler: the plumer, Mr Okafor, rings")
	if state := h.state(); !strings.Contains(state, "the plumer, Mr Okafor, rings") {
		t.Errorf("stored %s", state)
	}
}
