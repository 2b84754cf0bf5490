package dataset

import "github.com/refract-eval/refract"

// rereader is a dataset, or a source of variants, that knows whether it can be
// read more than once.
type rereader interface{ rereadable() bool }

// Rereadable tells whether a dataset can be read more than once: whether none
// of its inputs is standard input or a pipe. It is false for a dataset of
// another package.
func Rereadable(ds refract.Dataset) bool {
	r, ok := ds.(rereader)
	return ok && r.rereadable()
}

func (d *jsonl) rereadable() bool { return !d.in.stream }

func (d *parallel) rereadable() bool {
	for _, c := range d.columns() {
		if c.stream {
			return false
		}
	}
	return true
}

func (d *extended) rereadable() bool { return Rereadable(d.Dataset) && d.source.rereadable() }

func (d *divRef) rereadable() bool { return !d.in.stream }

func (d *referenceRows) rereadable() bool { return !d.in.stream }
