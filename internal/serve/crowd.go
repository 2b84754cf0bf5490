package serve

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// Most HTTP connections at a time, in total and from one client. A further one closes the
// oldest connection that is not being answered.
const (
	maxWebConns    = 1024
	maxClientConns = 512
)

// crowd bounds the connections of an HTTP server. It closes old idle connections instead
// of making new ones wait, so that many half-open connections delay nobody.
type crowd struct {
	mu       sync.Mutex
	waiting  list.List // net.Conns without a request, the oldest first
	elements map[net.Conn]*list.Element
	clients  map[string]int
	all      int
}

func newCrowd() *crowd {
	return &crowd{elements: map[net.Conn]*list.Element{}, clients: map[string]int{}}
}

// watch is the ConnState callback of a server.
func (c *crowd) watch(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.elements[conn]; e != nil {
		c.waiting.Remove(e)
		delete(c.elements, conn)
	}
	switch client := client(conn); state {
	case http.StateNew:
		c.all++
		c.clients[client]++
		c.wait(conn)
		switch {
		case c.clients[client] > maxClientConns:
			c.closeOldest(client)
		case c.all > maxWebConns:
			c.closeOldest("")
		}
	case http.StateIdle:
		c.wait(conn)
	case http.StateClosed, http.StateHijacked:
		c.all--
		if c.clients[client]--; c.clients[client] == 0 {
			delete(c.clients, client)
		}
	}
}

func (c *crowd) wait(conn net.Conn) { c.elements[conn] = c.waiting.PushBack(conn) }

// closeOldest closes the oldest idle connection of a client, or of any client for "".
func (c *crowd) closeOldest(of string) {
	for e := c.waiting.Front(); e != nil; e = e.Next() {
		conn := e.Value.(net.Conn)
		if of != "" && client(conn) != of {
			continue
		}
		c.waiting.Remove(e)
		delete(c.elements, conn)
		conn.Close() // the server then calls watch with StateClosed
		return
	}
}

// client returns the address of a connection's client.
func client(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}
