package serve

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// Most HTTP connections without a request at a time, in total and from one client; a
// further one closes the oldest of them. Connections that are being answered do not count:
// all users of a proxy are one client. maxBusy bounds those, and who is beyond is told so.
const (
	maxWebConns    = 1024
	maxClientConns = 512
	maxBusy        = 4096
)

// crowd bounds the idle connections of an HTTP server. It closes old ones instead of making
// new ones wait, so that many half-open connections delay nobody.
type crowd struct {
	mu      sync.Mutex
	waiting []idleConn // the oldest first
}

// idleConn is a connection without a request.
type idleConn struct {
	net.Conn
	client string
}

// watch is the ConnState callback of a server.
func (c *crowd) watch(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(w idleConn) bool { return w.Conn == conn })
	if state != http.StateNew && state != http.StateIdle {
		return
	}
	client, theirs := hostOf(conn.RemoteAddr().String()), 0
	c.waiting = append(c.waiting, idleConn{conn, client})
	for _, w := range c.waiting {
		if w.client == client {
			theirs++
		}
	}
	oldest := 0
	switch {
	case theirs > maxClientConns:
		oldest = slices.IndexFunc(c.waiting, func(w idleConn) bool { return w.client == client })
	case len(c.waiting) <= maxWebConns:
		return
	}
	c.waiting[oldest].Close() // the server then calls watch with StateClosed
	c.waiting = slices.Delete(c.waiting, oldest, oldest+1)
}
