package report

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"github.com/refract-eval/refract/internal/jsonline"
)

// linesEvery is the least time between two lines.
const linesEvery = 500 * time.Millisecond

// A progressLine is progress for programs.
type progressLine struct {
	Label    string            `json:"progress"`
	Done     int               `json:"done"`
	Total    *int              `json:"total"` // null while it is unknown
	Unit     string            `json:"unit"`
	Seconds  float64           `json:"seconds"` // since the start
	Counts   map[string]int    `json:"counts"`
	Notes    map[string]string `json:"notes"`
	Finished bool              `json:"finished"`
}

// NewProgressLines reports progress to another program: a JSON object on a line, at most
// every half second and at the end. Lines of [Progress.Println] come between them.
func NewProgressLines(w io.Writer, label string, total int, unit string) *Progress {
	p := newProgress(w, false, label, total, unit, time.Now)
	p.lines = true
	return p
}

// writeLine writes a line. The caller holds p.mu.
func (p *Progress) writeLine(now time.Time) {
	said := progressLine{
		Label: p.label, Done: p.done, Unit: p.unit,
		Seconds:  now.Sub(p.start).Round(time.Millisecond).Seconds(),
		Counts:   map[string]int{},
		Notes:    map[string]string{},
		Finished: p.finished,
	}
	if p.total > 0 {
		said.Total = &p.total
	}
	for label, n := range p.counts {
		if n != 0 {
			said.Counts[label] = n
		}
	}
	for _, n := range p.notes {
		if n.text != "" {
			said.Notes[cmp.Or(n.label, "now")] = n.text
		}
	}
	json.NewEncoder(jsonline.Escaping{To: p.w}).Encode(said)
}
