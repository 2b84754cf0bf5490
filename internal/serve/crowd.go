package serve

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// The connections that HTTP has at a time, in all and of one client. One more closes the
// oldest of them that is not being answered.
const (
	maxWebConns    = 1024
	maxClientConns = 512
)

// crowd bounds the connections of an HTTP server. It closes old ones that wait for a
// request and does not keep new ones waiting: many half-open connections then delay
// nobody.
type crowd struct {
	mu       sync.Mutex
	waiting  list.List // of net.Conn, the oldest first: those without a request
	elements map[net.Conn]*list.Element
	clients  map[string]int
	all      int
}

func newCrowd() *crowd {
	return &crowd{elements: map[net.Conn]*list.Element{}, clients: map[string]int{}}
}

// watch is the ConnState of a server.
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

// closeOldest closes a connection of a client, or of any for "".
func (c *crowd) closeOldest(of string) {
	for e := c.waiting.Front(); e != nil; e = e.Next() {
		conn := e.Value.(net.Conn)
		if of != "" && client(conn) != of {
			continue
		}
		c.waiting.Remove(e)
		delete(c.elements, conn)
		conn.Close() // which the server tells as StateClosed
		return
	}
}

// client is the address of a connection's other side.
func client(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}
