package cache

// MaxPages makes SQLite report a full disk at a number of pages.
func MaxPages(n int) Option { return func(o *options) { o.maxPages = n } }
