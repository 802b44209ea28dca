package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
)

// A gate sheds load. It counts in memory of this process; no secret depends on the counts.
//
// How much one client may ask is counted over all processes of a store. A process lets a client pass
// for a twentieth of the rate and of the burst without asking anybody, so ordinary requests cost
// nothing. For more it leases another twentieth of the burst from a bucket in the store, and counts
// down what it leased for a second. So n processes let pass, beyond the rate and the burst, at most a
// twentieth of the rate and a tenth of the burst each. A store that cannot answer is no reason to refuse:
// each process then goes by its own count, which allows the whole rate and burst.
type gate struct {
	slots, streams chan struct{}
	wait           time.Duration
	sheds          prometheus.Counter // requests that got no place
	rate           rate.Limit
	burst          int
	// lease asks the store for n requests of a client; nil where no other process serves it.
	lease func(ctx context.Context, who string, n, most int64, rate float64) (given int64, err error)

	most    int64        // memory that bodies may take at once
	bodies  atomic.Int64 // memory of bodies that were read, and are not answered yet
	mu      sync.Mutex
	open    int64            // of bodies, that of nobody who is known
	openOf  map[string]int64 // the same by address; without one that has none
	clients map[string]*client
	swept   time.Time
}

type client struct {
	bucket *rate.Limiter // of all that this process lets pass
	free   *rate.Limiter // of what it lets pass without asking the store
	seen   time.Time

	mu     sync.Mutex // held while the store is asked
	leased int64
	until  time.Time // how long what is leased is good
	shut   time.Time // the bucket in the store was empty, and is asked again from then on
	alone  time.Time // the store did not answer, and is asked again from then on
}

// idle is how long a client is remembered. After that its bucket is full again.
const idle = time.Minute

func newGate(l Limits, sheds prometheus.Counter) *gate {
	return &gate{slots: make(chan struct{}, l.Requests), streams: make(chan struct{}, l.Streams), wait: l.Wait, sheds: sheds, rate: rate.Limit(l.Rate), burst: l.Burst, most: l.Bodies,
		clients: map[string]*client{}, openOf: map[string]int64{}}
}

// How a process shares the bucket of a client with others.
const (
	share      = 20                     // the part of the burst that is leased, and of both that is free
	leaseTime  = time.Second            // for which a lease is good
	emptyTime  = 100 * time.Millisecond // for which an empty bucket is not asked again
	silentTime = time.Second            // for which a store that did not answer is not asked again
)

// leaseWait is how long the store may take to lease. Tests of what servers count together wait longer.
var leaseWait = 500 * time.Millisecond

// lets reports whether a client may make another request, out of times as many as one address may.
func (g *gate) lets(ctx context.Context, who string, times int, now time.Time) bool {
	c, ok := g.counts(who, times, now)
	if !ok || g.lease == nil || c.free.AllowN(now, 1) {
		return ok
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.leased > 0 && now.Before(c.until):
		c.leased--
		return true
	case now.Before(c.shut):
		return false
	case now.Before(c.alone):
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	most := int64(g.burst * times)
	given, err := g.lease(ctx, who, max(1, most/share), most, float64(g.rate)*float64(times))
	switch {
	case err != nil:
		c.alone = now.Add(silentTime)
	case given == 0:
		c.shut = now.Add(emptyTime)
		return false
	default:
		c.leased, c.until = given-1, now.Add(leaseTime)
	}
	return true
}

// counts counts a request of a client in this process, and reports whether it may pass.
func (g *gate) counts(who string, times int, now time.Time) (*client, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.swept) >= idle {
		for name, c := range g.clients {
			if now.Sub(c.seen) >= idle {
				delete(g.clients, name)
			}
		}
		g.swept = now
	}
	c := g.clients[who]
	if c == nil {
		each, burst := g.rate*rate.Limit(times), g.burst*times
		c = &client{bucket: rate.NewLimiter(each, burst), free: rate.NewLimiter(each/share, max(1, burst/share))}
		g.clients[who] = c
	}
	c.seen = now
	return c, c.bucket.AllowN(now, 1)
}

// atOnce is how many addresses' worth of requests a principal may make.
const atOnce = 5

// errTooMany asks the client to slow down.
var errTooMany = Problem{Status: http.StatusTooManyRequests, Code: "rate-limited", Title: "these are too many requests", Next: "wait a second", Retry: 1}

// enter waits shortly for a free place; leave frees it.
func (g *gate) enter(ctx context.Context, stream bool) (leave func(), err error) {
	places, wait := g.slots, g.wait
	if stream {
		places, wait = g.streams, 0
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	default:
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-late.C:
	case <-ctx.Done():
	}
	g.sheds.Inc()
	return nil, errBusy
}

// Of the memory that bodies take at once, three eighths are for those whose sender nobody knows, and a quarter
// for those of them that come from one address: of 256 MiB that suffices for the largest mail.
func (g *gate) mostOpen() int64 { return g.most / 8 * 3 }
func (g *gate) mostFrom() int64 { return g.most / 4 }

// mostOf is the most that one body may take.
func (g *gate) mostOf(from string) int64 {
	if from != "" {
		return g.mostFrom()
	}
	return g.most
}

// takes notes that bodies of nobody from an address take more memory, or less, and reports whether they
// may.
func (g *gate) takes(from string, more int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open += more
	g.openOf[from] += more
	of := g.openOf[from]
	if of == 0 {
		delete(g.openOf, from)
	}
	return g.open <= g.mostOpen() && of <= g.mostFrom()
}

// hold reads the body of a request, within the deadline that guard set; give releases the memory. from is
// the address of a sender whom nobody knows, "" for any other.
func (g *gate) hold(r *http.Request, c *http.ResponseController, from string) (give func(), err error) {
	var body net.Buffers
	var held int64 // of memory
	give = func() {
		g.bodies.Add(-held)
		if from != "" {
			g.takes(from, -held)
		}
	}
	for size := int64(512); ; size = min(2*size, 64<<10) { // pieces are not copied, and leave nothing to collect
		if most := g.mostOf(from); held >= most || r.ContentLength > most { // it never fits
			return give, Problem{Status: http.StatusRequestEntityTooLarge, Code: "too-large", Title: "the body is larger than all that the server reads at once", Next: "send less, or have its operator raise VERBATIM_BODIES"}
		}
		held += size
		all := g.bodies.Add(size)
		if from != "" && !g.takes(from, size) || all > g.most {
			g.sheds.Inc()
			return give, errBusy
		}
		piece, n := make([]byte, size), 0
		for n < len(piece) && err == nil {
			var more int
			more, err = r.Body.Read(piece[n:])
			n += more
		}
		body = append(body, piece[:n])
		if err == nil {
			continue
		}
		if err == io.EOF {
			// The body is read. The deadline has to go, since it would end the request when it
			// passes.
			_ = c.SetReadDeadline(time.Time{})
			r.Body = io.NopCloser(&body)
			return give, nil
		}
		var large *http.MaxBytesError
		var late net.Error
		switch {
		case errors.As(err, &large):
			return give, err
		case errors.As(err, &late) && late.Timeout():
			return give, Problem{Status: http.StatusRequestTimeout, Code: "bad-body", Title: "the body did not come in time"}
		default:
			return give, BadBody("the body broke off", "send all of it")
		}
	}
}
