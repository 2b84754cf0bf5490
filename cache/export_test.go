package cache

// MaxPages makes SQLite report a full disk at a number of pages.
func MaxPages(n int) Option { return func(o *options) { o.maxPages = n } }

// Abandon makes a store renew its lease no more, as if its process had died.
func Abandon(d *Database) { d.claims.end() }

var (
	ProcessIdentity = processIdentity
	ProcessGone     = processGone
)
