package intent

import (
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
)

// Filling a datetime: a moment as programs write it, or a day and a time of day, in the time zone of
// the person. Each of the two may be in the message or in an answer; what is missing is asked for.

// moment fills the argument at hand.
func (f *filling) moment() {
	day, there := f.day()
	var clock *values.Clock
	var in *clause
	for _, c := range append(f.answers, f.c) {
		if all := values.Instants(c.raw(c.rng), c.in); len(all) == 1 {
			f.at(all[0].Time, values.Range{Start: c.rng.Start + all[0].Range.Start, End: c.rng.Start + all[0].Range.End})
			return
		} else if len(all) > 1 {
			f.asks(Ask{Param: f.pr, Text: values.Spread.Ask(f.r.speaks(f.l))})
			return
		}
		all := c.clocks(c != f.c)
		if clock == nil && len(all) > 0 {
			if clock, in = &all[0], c; len(all) > 1 {
				f.asks(Ask{Param: f.pr, Text: values.Spread.Ask(f.r.speaks(f.l))})
				return
			}
		}
	}
	speaks := f.r.speaks(f.l)
	switch {
	case there && day == nil: // which day is asked first
	case clock != nil && clock.Problem != 0:
		f.asks(Ask{Param: f.pr, Text: clock.Problem.Ask(speaks)})
	case clock != nil && len(clock.Minutes) > 1:
		a := Ask{Param: f.pr}
		for _, m := range clock.Minutes {
			a.Choices, a.says = append(a.Choices, values.SayClock(m)), append(a.says, values.SayClock(m))
		}
		a.Text = askWhich.In(speaks, values.Either(speaks, a.says))
		f.asks(a)
	case day == nil && clock == nil:
		f.missing()
	case day == nil:
		f.asks(Ask{Param: f.pr, Text: askDay.In(speaks, values.SayClock(clock.Minutes[0]))})
	case clock == nil:
		f.asks(Ask{Param: f.pr, Text: askTime.In(speaks, values.SayDay(day.Value, speaks))})
	default:
		on, minutes := day.Value.Time(), clock.Minutes[0]
		at := time.Date(on.Year(), on.Month(), on.Day(), minutes/60, minutes%60, 0, 0, f.c.in.Now.Location())
		if at.Hour() != minutes/60 || at.Minute() != minutes%60 { // the night in which clocks are put forward
			f.asks(Ask{Param: f.pr, Text: values.Unread.Ask(speaks)})
			return
		}
		rng := day.Range
		if in == f.c {
			rng = values.Range{Start: min(rng.Start, clock.Range.Start), End: max(rng.End, clock.Range.End)}
		}
		f.at(at, rng)
	}
}

// at takes a moment, if the argument accepts it.
func (f *filling) at(t time.Time, at values.Range) {
	if !f.accepted(stores.NewTime(t)) {
		return
	}
	f.take(dsl.NewTime(t), at, nil)
}

// day is the day that the last answer with one says, or the message; there reports that one was said.
func (f *filling) day() (day *values.Reading, there bool) {
	for _, c := range append(f.answers, f.c) {
		of := *f
		if of.c = c; c != f.c {
			of.used = map[int]bool{}
		}
		if day, there = of.reading(values.Date); there {
			return day, true
		}
	}
	return nil, false
}

// clocks are the times of day in a clause. asked says that it answers a question for one.
func (c *clause) clocks(asked bool) []values.Clock {
	all := values.Clocks(c.raw(c.rng), asked && !c.has(values.Date))
	for i := range all {
		all[i].Range.Start += c.rng.Start
		all[i].Range.End += c.rng.Start
	}
	return all
}

// hasMoment reports whether a clause has a day, a time of day, or both.
func (c *clause) hasMoment() bool {
	return c.has(values.Date) || len(c.clocks(false)) > 0 || len(values.Instants(c.raw(c.rng), c.in)) > 0
}
