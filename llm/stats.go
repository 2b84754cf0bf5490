package llm

// ServerStats counts what has become of the attempts at one server.
type ServerStats struct {
	Server   string // base URL, without user and query
	InFlight int    // now
	Limit    int    // how many may be in flight now
	// Calls are all attempts that have ended. Failures are those without an
	// answer, Throttled the ones among them that the server refused because of
	// its load or a rate limit (429, 503, 529), and Cancelled those whose
	// context ended first.
	Calls, Failures, Throttled, Cancelled int
	Ejected                               bool // out of service now
	Ejections                             int  // how often it was put out of service
	LastFault                             string
}

// Stats returns the counts of all servers, in their order.
func (c *Client) Stats() []ServerStats {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]ServerStats, len(p.servers))
	for i, s := range p.servers {
		out[i] = ServerStats{
			Server: s.target.shown, InFlight: s.inFlight, Limit: s.flow.bound(),
			Calls: s.calls, Failures: s.failures, Throttled: s.throttled, Cancelled: s.cancelled,
			Ejected: s.ejected, Ejections: s.ejections,
		}
		if s.fault != nil {
			out[i].LastFault = s.fault.told()
		}
	}
	return out
}
