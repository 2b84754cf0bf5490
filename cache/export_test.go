package cache

import (
	"time"
)

// BusyTimeout is how long to wait for another process that holds a file locked,
// and how long to try to reach a database again.
func BusyTimeout(d time.Duration) Option { return func(o *options) { o.patience = d } }

// Lease is how long the claims of a process outlive it.
func Lease(d time.Duration) Option { return func(o *options) { o.lease = d } }

// MaxPages makes SQLite report a full disk at a number of pages.
func MaxPages(n int) Option { return func(o *options) { o.maxPages = n } }

// Abandon makes a store renew its lease no more, as if its process had died.
func Abandon(d *Database) { d.claims.end() }

var (
	ProcessIdentity = processIdentity
	OpenPostgres    = openPostgres
	ParseParams     = parseParams

	ErrClosed, ErrForeign, ErrFull = errClosed, errForeign, errFull
	ErrVersion                     = errVersion
	ErrReadOnly, ErrUnavailable    = errReadOnly, errUnavailable
	ErrLocked, ErrReplaced         = errLocked, errReplaced
)

const ScoreRecord, AnswerRecord = scoreRecord, answerRecord
