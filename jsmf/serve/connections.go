package serve

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// connections bounds the number of connections. Beyond it the one that has waited longest for a
// request is closed, or the new one if all have a request. So clients that open connections and
// ask for nothing keep nobody out. A request counts from the end of its header until it is
// refused or answered, even if the rest of it is still coming.
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
		if at == nil { // else there has been no request
			c.where[conn] = c.idle.PushBack(conn)
		}
	case state == http.StateClosed || state == http.StateHijacked:
		if at != nil {
			c.idle.Remove(at)
		}
		delete(c.where, conn)
	}
	return victim
}

// connectionKey is that of a request's connection in its context.
type connectionKey struct{}

// context is an http.Server's ConnContext.
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// request notes that a connection is at a request from now on, until it is idle.
func (c *connections) request(ctx context.Context) {
	conn, ok := ctx.Value(connectionKey{}).(net.Conn)
	if !ok {
		return // a handler without a server
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.where[conn]; at != nil {
		c.idle.Remove(at)
		c.where[conn] = nil
	}
}

// refused notes that a connection is no longer at a request, but may be closed for others.
func (c *connections) refused(ctx context.Context) {
	if conn, ok := ctx.Value(connectionKey{}).(net.Conn); ok {
		c.note(conn, http.StateIdle)
	}
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.where)
}
