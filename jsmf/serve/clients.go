package serve

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// clients counts the requests in progress of each client, so that none has more than
// its share.
type clients struct {
	most int
	mu   sync.Mutex
	of   map[string]int
}

func (c *clients) enter(client string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[client] >= c.most {
		return false
	}
	c.of[client]++
	return true
}

func (c *clients) leave(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[client]--; c.of[client] == 0 {
		delete(c.of, client)
	}
}

// client returns whose request it is: the address of the connection, or the last one in
// the header that Settings.ClientHeader trusts. For IPv6 it is the network of 64 bits, since a
// client may have all of its addresses.
func (s *Service) client(r *http.Request) string {
	if values := r.Header.Values(s.cfg.ClientHeader); s.cfg.ClientHeader != "" && len(values) > 0 {
		last := values[len(values)-1]
		last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
		if network, ok := network(last); ok {
			return network
		}
	}
	network, _ := network(r.RemoteAddr)
	return network
}

// network reads an address with or without a port.
func network(s string) (_ string, ok bool) {
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(s)
		if err != nil {
			return "", false
		}
		addr = with.Addr()
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String(), true
	}
	p, err := addr.Prefix(64)
	return p.String(), err == nil
}
