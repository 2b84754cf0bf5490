package metrics

import (
	"context"
	"math"
)

// StartError says that a metric with a correct spec could not be started: its server is
// down or does not have the model, or the program does not speak the protocol.
type StartError struct {
	Name string // of the metric, as far as known, without secrets
	Err  error
}

// Error returns the name and the cause.
func (e *StartError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Metric returns a stand-in for the metric in a run with others: scoring fails with this
// error, so that all its cells are Ended.
func (e *StartError) Metric() Metric { return &unstarted{e} }

// StartErrors returns the errors of the metrics that could not be started.
func StartErrors(ms []Metric) (errs []error) {
	for _, m := range ms {
		if u, ok := m.(*unstarted); ok {
			errs = append(errs, u.err)
		}
	}
	return errs
}

type unstarted struct{ err *StartError }

// Info asks for no texts, because what the metric needs is not known.
func (u *unstarted) Info() Info {
	return Info{Name: u.err.Name, Direction: HigherIsBetter, Lower: math.Inf(-1), Upper: math.Inf(1)}
}

func (u *unstarted) Signature(Level) Signature {
	return Signature{{Key: "ended", Value: u.err.Err.Error()}}
}

func (u *unstarted) Score(context.Context, []Block) ([]Scores, error) { return nil, u.err }
