package worker

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"verbatim/runtime/jobs/notify"
)

// G22: a channel has its share; one that does not answer is left alone after three failures, and then
// tried by one notice at a time, ever more rarely, until it answers, if only with a no.
func TestAChannelThatDoesNotAnswerIsLeftAlone(t *testing.T) {
	t.Parallel()
	var told []string
	l := newLanes(4, func(channel string, up bool) { told = append(told, fmt.Sprint(channel, " ", up)) })
	now := time.Date(2024, 2, 27, 9, 30, 0, 0, time.UTC)
	enters := func(channel string) bool { return l.enter(channel, 0, now) == nil }
	for n, want := range []bool{true, true, false} {
		if enters("mail") != want {
			t.Fatalf("a channel has not half of the workers: %d", n)
		}
	}
	if !enters("hook") {
		t.Fatal("another channel is held up")
	}
	l.leave("hook", answered, now)
	for range 2 {
		l.leave("mail", silent, now)
		if !enters("mail") {
			t.Fatal("it is left alone too soon")
		}
	}
	l.leave("mail", nothing, now)
	l.leave("mail", silent, now)
	for pause := 30 * time.Second; pause < 30*time.Minute; pause *= 2 {
		most := min(pause, 10*time.Minute)
		back := l.enter("mail", 0, now)
		if back == nil || back.reason != notify.CodeUnreachable || back.spends || back.after < most {
			t.Fatalf("after %s it is not left alone: %+v", most, back)
		}
		if back = l.enter("mail", 25*time.Hour, now); back == nil || !back.spends {
			t.Fatalf("a notice waits for ever: %+v", back)
		}
		if !enters("hook") {
			t.Fatal("it delays another")
		}
		l.leave("hook", answered, now)
		now = now.Add(most - time.Millisecond)
		if enters("mail") {
			t.Fatalf("it is tried before %s", most)
		}
		now = now.Add(time.Millisecond)
		if !enters("mail") || enters("mail") {
			t.Fatalf("it is not tried by one after %s", most)
		}
		l.leave("mail", silent, now)
	}
	now = now.Add(10 * time.Minute)
	if !enters("mail") {
		t.Fatal("it is never tried again")
	}
	l.leave("mail", heardOf(&notify.Error{Code: notify.CodeRefused}), now)
	for range 2 {
		if !enters("mail") {
			t.Error("it is left alone though it answers")
		}
	}
	l.leave("mail", answered, now)
	l.leave("mail", answered, now)
	if len(l.all) > 0 {
		t.Errorf("%d are remembered of which nothing is to be remembered", len(l.all))
	}
	if want := []string{"mail false", "mail true"}; !slices.Equal(told, want) {
		t.Errorf("%q was told, want %q", told, want)
	}
	for err, want := range map[error]heard{nil: answered, context.DeadlineExceeded: silent, context.Canceled: nothing, &notify.Error{Code: notify.CodeNoRoute}: nothing,
		&notify.Error{Code: notify.CodeUnknown}: silent, &notify.Error{Code: notify.CodeUnreachable}: silent} {
		if got := heardOf(err); got != want {
			t.Errorf("%v is taken for %d, want %d", err, got, want)
		}
	}
}

// What is put back comes again one after another.
func TestWhatIsPutBackIsSpread(t *testing.T) {
	t.Parallel()
	l, now, last := newLanes(1, nil), time.Now(), time.Duration(0)
	if l.enter("mail", 0, now) != nil {
		t.Fatal("a single worker sends nothing")
	}
	for range 500 {
		back := l.enter("mail", 0, now)
		if back == nil || back.after <= last || back.spends {
			t.Fatalf("%+v after %s", back, last)
		}
		last = back.after
	}
}
