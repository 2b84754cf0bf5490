package cache

// MaxPages makes SQLite report a full disk at a number of pages.
func MaxPages(n int) Option { return func(o *options) { o.maxPages = n } }

// Abandon makes a store renew its lease no more, as if its process had died.
func Abandon(b Backend) {
	switch s := b.(type) {
	case *SQLite:
		s.claims.end()
	case *Postgres:
		s.claims.end()
	}
}

var (
	ProcessIdentity = processIdentity
	ProcessGone     = processGone
)
