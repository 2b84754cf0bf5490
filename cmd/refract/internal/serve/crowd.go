package serve

import (
	"container/list"
	"net"
	"net/http"
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
	mu       sync.Mutex
	waiting  list.List // net.Conns without a request, the oldest first
	elements map[net.Conn]*list.Element
	clients  map[string]int // how many wait
}

func newCrowd() *crowd {
	return &crowd{elements: map[net.Conn]*list.Element{}, clients: map[string]int{}}
}

// watch is the ConnState callback of a server.
func (c *crowd) watch(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(conn)
	if state != http.StateNew && state != http.StateIdle {
		return
	}
	client := client(conn)
	c.elements[conn] = c.waiting.PushBack(conn)
	switch c.clients[client]++; {
	case c.clients[client] > maxClientConns:
		c.closeOldest(client)
	case c.waiting.Len() > maxWebConns:
		c.closeOldest("")
	}
}

// remove takes a connection off those that wait.
func (c *crowd) remove(conn net.Conn) {
	e := c.elements[conn]
	if e == nil {
		return
	}
	c.waiting.Remove(e)
	delete(c.elements, conn)
	client := client(conn)
	if c.clients[client]--; c.clients[client] == 0 {
		delete(c.clients, client)
	}
}

// closeOldest closes the oldest idle connection of a client, or of any client for "".
func (c *crowd) closeOldest(of string) {
	for e := c.waiting.Front(); e != nil; e = e.Next() {
		conn := e.Value.(net.Conn)
		if of != "" && client(conn) != of {
			continue
		}
		c.remove(conn)
		conn.Close() // the server then calls watch with StateClosed
		return
	}
}

// client returns the address of a connection's client.
func client(conn net.Conn) string { return hostOf(conn.RemoteAddr().String()) }
