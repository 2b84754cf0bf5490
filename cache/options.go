package cache

import "time"

// Option changes how a store is opened.
type Option func(*options)

type options struct {
	readOnly bool
	patience time.Duration
	lease    time.Duration
	maxPages int // of a file, for tests of a full disk; 0 sets no limit
}

func newOptions(opts []Option) options {
	o := options{patience: 10 * time.Second, lease: 10 * time.Second}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// ReadOnly opens an existing cache, be it writable or not, to read it: Put
// and Claim fail with [ErrReadOnly]. A cache of an older version stays one.
func ReadOnly() Option { return func(o *options) { o.readOnly = true } }

// BusyTimeout is how long to wait for another process that holds a file
// locked, before failing with [ErrLocked], and how long to try to reach a
// database again, before failing with [ErrUnavailable]. It is 10 seconds by
// default.
func BusyTimeout(d time.Duration) Option { return func(o *options) { o.patience = d } }

// Lease is how long the claims of a process outlive it, where nothing tells
// that it is gone. A process that lives renews its lease; one that is stopped
// for longer loses its claims. It is 10 seconds by default.
func Lease(d time.Duration) Option { return func(o *options) { o.lease = d } }
