package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bodies of up to smallBody bytes have a room for themselves, so that long ones, however
// slow, keep no short one waiting. A client has at most half of a room.
const (
	smallBody = 4 << 20
	maxSmall  = 16 * smallBody // bytes of all small bodies
)

// A body has beginTime to begin. Then it must arrive at a least pace, in bytes a second,
// measured every stallTime.
const (
	beginTime = 10 * time.Second
	stallTime = 5 * time.Second
	lookAgain = 100 * time.Millisecond // for room that others gave back
	smallPace = 4 << 10
	largePace = 256 << 10
)

// bodyRoom bounds the bytes of bodies, in all and for each client.
type bodyRoom struct {
	all  *semaphore.Weighted
	most int64         // of a client
	last chan struct{} // holds an element while one body may exceed the bounds

	mu      sync.Mutex
	clients map[string]int64 // bytes taken
}

func newBodyRoom(bytes int64) *bodyRoom {
	return &bodyRoom{all: semaphore.NewWeighted(bytes), most: bytes / 2, last: make(chan struct{}, 1), clients: map[string]int64{}}
}

// take takes room for n bytes of a client, if there is some.
func (r *bodyRoom) take(client string, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients[client]+n > r.most || !r.all.TryAcquire(n) {
		return false
	}
	r.clients[client] += n
	return true
}

func (r *bodyRoom) give(client string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.Release(n)
	if r.clients[client] -= n; r.clients[client] <= 0 {
		delete(r.clients, client)
	}
}

// receive reads the body of a request. Only bytes that have arrived count against the
// bounds, not those that the client announces; release gives them back.
func (s *Server) receive(rw http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	b := &charged{ctx: r.Context(), room: s.large, client: hostOf(r.RemoteAddr), body: http.MaxBytesReader(rw, r.Body, MaxLine), wait: http.NewResponseController(rw),
		pace: largePace}
	b.restart()
	if r.ContentLength >= 0 && r.ContentLength <= smallBody {
		b.room, b.pace = s.small, smallPace
	}
	if r.ContentLength > MaxLine {
		return nil, b.release, errLong
	}
	body, err = io.ReadAll(b)
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		err = errLong
	case err != nil && r.Context().Err() == nil:
		err = &Usage{fmt.Errorf("read the request: %w", err)}
	case len(body) == 0:
		body = []byte("{}")
	}
	return body, b.release, err
}

// charged is a body whose bytes count against the bounds of a room. If a bound is reached,
// one body at a time may still be read to its end; otherwise bodies that have arrived in
// part could wait for each other for ever.
type charged struct {
	ctx    context.Context
	room   *bodyRoom
	client string
	body   io.Reader
	wait   *http.ResponseController
	pace   int64 // bytes a second

	begun   time.Time
	until   time.Time // when the next bytes must be there
	arrived int64     // since until was set
	taken   int64
	last    bool // this body is the one that may exceed the bounds
}

// Read implements io.Reader.
func (c *charged) Read(p []byte) (int, error) {
	if end := c.begun.Add(bodyTime); c.until.After(end) {
		c.until = end
	}
	c.wait.SetReadDeadline(c.until)
	n, err := c.body.Read(p)
	if c.arrived += int64(n); c.arrived >= c.pace*int64(stallTime/time.Second) {
		c.arrived, c.until = 0, time.Now().Add(stallTime)
	}
	if c.last {
		return n, err
	}
	for waits := false; ; waits = true {
		if c.room.take(c.client, int64(n)) {
			c.taken += int64(n)
			return n, err
		}
		if !waits {
			defer c.restart() // the wait does not count against the client's time
		}
		select {
		case c.room.last <- struct{}{}:
			c.last = true
			return n, err
		case <-time.After(lookAgain):
		case <-c.ctx.Done():
			return 0, c.ctx.Err()
		}
	}
}

func (c *charged) restart() {
	c.begun = time.Now()
	c.arrived, c.until = 0, c.begun.Add(beginTime)
}

func (c *charged) release() {
	c.room.give(c.client, c.taken)
	if c.last {
		<-c.room.last
	}
}

// Local reports whether the name of a host is this machine's own.
func Local(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// hostOf returns the host of an address, by which clients are told apart.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
