package server

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// connections bounds how many there are. Beyond it the one that has waited
// longest for a request is closed, or, where all are at one, the new one: so that
// clients that open connections and ask for nothing keep no other out.
type connections struct {
	most  int
	mu    sync.Mutex
	idle  list.List                  // of net.Conn, the longest first
	where map[net.Conn]*list.Element // its place in idle; nil: it is at a request
}

// state is an http.Server's ConnState.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if victim := c.note(conn, state); victim != nil {
		victim.Close() // its own goroutine reports what comes of it, to nobody
	}
}

func (c *connections) note(conn net.Conn, state http.ConnState) (victim net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.where[conn]
	switch {
	case state == http.StateNew:
		if c.where == nil {
			c.where = make(map[net.Conn]*list.Element)
		}
		c.where[conn] = c.idle.PushBack(conn)
		if len(c.where) <= c.most {
			return nil
		}
		victim = c.idle.Remove(c.idle.Front()).(net.Conn)
		delete(c.where, victim)
	case !known: // it has been closed
	case state == http.StateIdle:
		c.where[conn] = c.idle.PushBack(conn)
	default:
		if at != nil {
			c.idle.Remove(at)
		}
		if c.where[conn] = nil; state != http.StateActive {
			delete(c.where, conn)
		}
	}
	return victim
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.where)
}
