package cache

import (
	"time"
)

// BusyTimeout sets how long to wait for another process that has locked a file, and how
// long to keep trying to reach a database.
func BusyTimeout(d time.Duration) Option { return func(o *options) { o.patience = d } }

// MaxPages makes SQLite report a full disk at this number of pages.
func MaxPages(n int) Option { return func(o *options) { o.maxPages = n } }

// Abandon stops the renewal of a store's lease, as if its process had died.
func Abandon(d *Database) { d.claims.end() }

var (
	ParseParams = func(s string) (Params, error) { return Params(s).inForm() }

	Process, Ended = process, ended

	ErrClosed, ErrForeign, ErrFull = errClosed, errForeign, errFull
	ErrVersion                     = errVersion
	ErrReadOnly, ErrUnavailable    = errReadOnly, errUnavailable
	ErrLocked, ErrReplaced         = errLocked, errReplaced
)

const ScoreRecord, AnswerRecord = scoreRecord, answerRecord
