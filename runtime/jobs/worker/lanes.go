package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/notify"
)

// lanes keep a channel that does not answer from delaying the others: see the package's promises.
type lanes struct {
	share int                           // how many notices of one channel are sent at once
	told  func(channel string, up bool) // may be nil

	mu  sync.Mutex
	all map[string]*lane
}

// A lane is what is known of a channel.
type lane struct {
	busy    int
	back    int       // notices that were put back since one was sent
	failed  int       // failures of the channel since it answered
	until   time.Time // while it is closed: when one notice is let through
	pausing time.Duration
}

const (
	breaks   = 3 // failures after which a lane is closed
	pause    = 30 * time.Second
	maxPause = 10 * time.Minute
	// A notice that waits for longer than this uses up its attempts, so that it is given up some day:
	// what waits for a channel that is gone is what a day and some hours bring.
	patience = 24 * time.Hour
)

func newLanes(concurrency int, told func(string, bool)) *lanes {
	return &lanes{share: max(1, concurrency/2), told: told, all: map[string]*lane{}}
}

func (l *lanes) of(channel string) *lane {
	if l.all[channel] == nil {
		l.all[channel] = &lane{}
	}
	return l.all[channel]
}

// enter lets a notice through, which leave has to be called for then, or says for how long to put it
// back.
func (l *lanes) enter(channel string, waited time.Duration, now time.Time) *putBack {
	l.mu.Lock()
	defer l.mu.Unlock()
	this := l.of(channel)
	closed := this.failed >= breaks
	back := &putBack{reason: "channel-busy", after: time.Second}
	switch {
	case closed && now.Before(this.until):
		back = &putBack{notify.CodeUnreachable, this.until.Sub(now), waited > patience}
	case closed && this.busy > 0:
		back = &putBack{notify.CodeUnreachable, time.Second, waited > patience}
	case this.busy < l.share:
		this.busy++
		return nil
	}
	// Many that are put back come again one after another, and not all at once.
	this.back++
	back.after += min(time.Duration(this.back)*20*time.Millisecond, pause)
	return back
}

// What a notice tells of its channel.
type heard uint8

const (
	nothing  heard = iota // it was not sent
	answered              // also by a no
	silent
)

// leave notes what was heard of a channel by a notice that enter let through.
func (l *lanes) leave(channel string, h heard, now time.Time) {
	l.mu.Lock()
	this := l.of(channel)
	was := this.failed >= breaks
	switch h {
	case answered:
		delete(l.all, channel) // or there would be one for each that ever was
		if this = (&lane{busy: this.busy}); this.busy > 1 {
			l.all[channel] = this
		}
	case silent:
		if this.failed++; this.failed >= breaks && !now.Before(this.until) {
			this.pausing = min(max(2*this.pausing, pause), maxPause)
			this.until = now.Add(this.pausing)
		}
	}
	this.busy--
	closed := this.failed >= breaks
	l.mu.Unlock()
	if was != closed && l.told != nil {
		l.told(channel, !closed)
	}
}

// heardOf says what the error of a delivery tells of the channel.
func heardOf(err error) heard {
	var channel *notify.Error
	var refusal *engine.Refusal
	switch {
	case err == nil:
		return answered
	case errors.Is(err, context.DeadlineExceeded):
		return silent
	case errors.As(err, &channel) && (channel.Code == notify.CodeUnreachable || channel.Code == notify.CodeUnknown):
		return silent
	case errors.As(err, &refusal) && refusal.Diagnostics[0].Code == engine.CodeToolSilent:
		return silent
	case errors.As(err, &channel) && channel.Code == notify.CodeRefused:
		return answered
	}
	return nothing
}
