package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// attempt bounds one try of an operation: a server that is cut off without a
// word would be waited for without an end.
const attempt = 30 * time.Second

// again carries out, with a connection, what can be repeated without harm, until
// it works, fails for a reason that will last, or the patience is at its end. A
// try is given up after a time, unless that is 0.
func (s *postgresEngine) again(ctx context.Context, limit time.Duration, f func(context.Context, *pgxpool.Conn) error) error {
	began := time.Now()
	pause := 20 * time.Millisecond
	for {
		trial, cancel := ctx, context.CancelFunc(func() {})
		if limit > 0 {
			trial, cancel = context.WithTimeout(ctx, max(limit, s.patience))
		}
		err := s.once(trial, f)
		cut := trial.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil || !cut && !passing(err) {
			return err
		}
		// The pause varies, so that all who lost the same server do not come
		// back at once.
		wait, patience := pause/2+rand.N(pause), s.patience
		if crowded(err) {
			// Other processes have the connections, and give them back when they
			// are idle: that takes longer, and is said.
			patience *= crowdPatience
			if time.Since(began) > s.patience/crowdPatience {
				s.crowd.Do(func() {
					s.tell(fmt.Sprintf("cache %s: the server has no connection left: waiting for one, for up to %v", s.name, patience))
				})
			}
		}
		if time.Since(began)+wait > patience {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		pause = min(2*pause, time.Second)
	}
}

// once waits for a connection. Where the server lets no further one in, it makes
// do for a while with those that it has, so that they go round: whoever writes
// the lease of the claims would else wait as long as anybody.
func (s *postgresEngine) once(ctx context.Context, f func(context.Context, *pgxpool.Conn) error) error {
	for {
		if err := s.turns.Acquire(ctx, 1); err != nil {
			return err
		}
		err := s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return f(ctx, c) })
		if err == nil || !crowded(err) || s.pool.Stat().TotalConns() == 0 {
			s.turns.Release(1)
			return err
		}
		time.AfterFunc(s.patience, func() { s.turns.Release(1) })
	}
}

// crowdPatience is how many times the patience a connection is waited for.
const crowdPatience = 6

// crowded reports whether the server, or a PgBouncer before it, has as many
// clients as it takes.
func crowded(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) &&
		(refused.Code == tooMany || refused.Code == protocolViolation && strings.Contains(refused.Message, "no more connections allowed"))
}

const (
	tooMany           = "53300"
	protocolViolation = "08P01" // also what a PgBouncer says whatever it refuses
)

// passing reports whether a failure may be over soon: the connection was lost
// or the server restarts, or two transactions were in each other's way.
func passing(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		switch refused.Code {
		case "40001", "40P01", // serialization failure, deadlock
			"55P03",                   // lock not available
			"57P01", "57P02", "57P03", // shutdown, crash, starting up
			tooMany:
			return true
		case protocolViolation:
			return !strings.Contains(refused.Message, startupParameter)
		}
		return strings.HasPrefix(refused.Code, "08") // connection exception
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "conn closed")
}

// explain says what a failed operation means and what to do about it. Once
// ctx is done, that is the cause.
func (s *postgresEngine) explain(ctx context.Context, op string, err error) error {
	if said, done := explained(ctx, s.name, op, err); done {
		return said
	}
	if told := (*postgresError)(nil); errors.As(err, &told) {
		return err
	}
	e := &postgresError{cause: err}
	var refused *pgconn.PgError
	var advice string
	if errors.As(err, &refused) {
		advice, e.kind = adviceFor(refused)
	}
	if e.kind == nil && (errors.Is(err, ErrUnavailable) || passing(err)) {
		e.kind = ErrUnavailable
		advice = "nothing stored before is lost: see that the server runs and lets this machine in, then run again"
	}
	var said strings.Builder
	fmt.Fprintf(&said, "cache %s: %s: ", s.name, op)
	if e.kind != nil {
		fmt.Fprintf(&said, "%v: ", e.kind)
	}
	if advice != "" {
		fmt.Fprintf(&said, "%s: ", advice)
	}
	said.WriteString(strings.TrimPrefix(hide(err.Error(), s.secrets), ErrUnavailable.Error()+": "))
	e.message = said.String()
	return e
}

// startupParameter is what a PgBouncer says of a setting that it does not pass on.
const startupParameter = "unsupported startup parameter"

// adviceFor says what to do about an error of the server.
func adviceFor(refused *pgconn.PgError) (advice string, kind error) {
	switch {
	case crowded(refused):
		return "the server has as many clients as it takes: lower pool_max_conns in the URL, raise max_connections of the server, or put PgBouncer before it", ErrUnavailable
	case refused.Code == protocolViolation && strings.Contains(refused.Message, startupParameter):
		return "PgBouncer passes no such setting on: leave it out of the URL, and set it on the server, as with ALTER ROLE … SET search_path", ErrUnavailable
	}
	switch refused.Code {
	case "28P01", "28000":
		return "the server refuses the user or the password: see the URL, PGPASSWORD or ~/.pgpass", ErrUnavailable
	case "3D000":
		return "there is no such database: create it, for instance with createdb", ErrUnavailable
	case "3F000":
		return "there is no such schema: create it, or leave search_path out", ErrUnavailable
	case "42501", "25006":
		return "the user needs the rights to create tables once, and to read and change them", ErrReadOnly
	case "53100":
		return "nothing stored before is lost: free some space on the server, then run again", ErrFull
	case "42P01", "42703":
		return "a table or column of the cache is missing: name another database or search_path", ErrCorrupt
	case "XX001", "XX002":
		return "the server found its own files damaged; see its log", ErrCorrupt
	case "57014":
		return "the server ended a statement that took long: raise its statement_timeout", nil
	}
	return "", nil
}

// postgresError is a message without secrets, around a cause that is there
// for errors.Is and errors.As.
type postgresError struct {
	message string
	kind    error // nil for none
	cause   error
}

func (e *postgresError) Error() string    { return e.message }
func (e *postgresError) GoString() string { return e.message }

func (e *postgresError) Unwrap() []error {
	if e.kind == nil {
		return []error{e.cause}
	}
	return []error{e.kind, e.cause}
}
