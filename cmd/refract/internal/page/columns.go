package page

import (
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// maxIndex is what fits in the 16 bits in which the page keeps an index.
const maxIndex = math.MaxUint16

// flagErrors marks an output in which a judge reports an error.
const flagErrors = 1

// columns holds the numbers by which the explorer's list is sorted and filtered: one per
// output, segment or reference, so that the list appears before any text is read.
type columns struct {
	human, scores [][]float32 // per output
	decided       [][]uint16  // per output: the index of a reference plus 1
	system        []uint16    // per output
	flags         []byte      // per output
	outputs       []uint16    // per segment: how many
	references    []uint16    // per segment: how many
	domain        []uint16    // per segment
	prompt        []uint16    // per reference: 0 for an original, else the prompt plus 1
	domains       []string
	domainIndex   map[string]uint16
	chunks        []int // how many segments each block holds
}

func newColumns(e *Explorer) *columns {
	return &columns{
		human: make([][]float32, len(e.Humans)), scores: make([][]float32, len(e.Settings)),
		decided: make([][]uint16, len(e.Settings)), domainIndex: make(map[string]uint16),
	}
}

// add adds a segment. It returns false if there are more domains or references than an
// index holds.
func (c *columns) add(s *Segment) bool {
	if len(c.domains) > maxIndex || len(s.References) >= maxIndex {
		return false
	}
	domain, ok := c.domainIndex[s.Domain]
	if !ok {
		domain = uint16(len(c.domains))
		c.domainIndex[s.Domain] = domain
		c.domains = append(c.domains, s.Domain)
	}
	c.domain = append(c.domain, domain)
	c.outputs = append(c.outputs, uint16(len(s.Outputs)))
	c.references = append(c.references, uint16(len(s.References)))
	for _, r := range s.References {
		c.prompt = append(c.prompt, uint16(r.Prompt+1))
	}
	for i := range s.Outputs {
		o := &s.Outputs[i]
		c.system = append(c.system, uint16(o.System))
		for k, v := range o.Human {
			c.human[k] = append(c.human[k], float32(v))
		}
		for k, v := range o.Scores {
			c.scores[k] = append(c.scores[k], float32(v.Value))
			c.decided[k] = append(c.decided[k], uint16(v.Decided))
		}
		var flags byte
		for _, r := range o.Reports {
			if len(r.Errors) > 0 {
				flags |= flagErrors
			}
		}
		c.flags = append(c.flags, flags)
	}
	return true
}

// bytes returns the columns one after another in little endian, the widest numbers first,
// so that each begins at a multiple of its size.
func (c *columns) bytes() []byte {
	var b []byte
	for _, group := range [][][]float32{c.human, c.scores} {
		for _, column := range group {
			for _, f := range column {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
			}
		}
	}
	for _, group := range [][][]uint16{c.decided, {c.system, c.outputs, c.references, c.domain, c.prompt}} {
		for _, column := range group {
			for _, n := range column {
				b = binary.LittleEndian.AppendUint16(b, n)
			}
		}
	}
	return append(b, c.flags...)
}

// header returns JSON that says what the numbers of the columns mean.
func (c *columns) header(e *Explorer) ([]byte, error) {
	shown := func(measures []Measure) []Measure {
		out := append([]Measure{}, measures...)
		for i := range out {
			out[i].Name = report.Visible(out[i].Name)
		}
		return out
	}
	return json.Marshal(struct {
		Systems    []string  `json:"systems"`
		Humans     []string  `json:"humans"`
		Metrics    []Measure `json:"metrics"`
		Settings   []Measure `json:"settings"`
		Prompts    []string  `json:"prompts"`
		Domains    []string  `json:"domains"`
		Chunks     []int     `json:"chunks"`
		Outputs    int       `json:"outputs"`
		References int       `json:"references"`
	}{visible(e.Systems), visible(e.Humans), shown(e.Metrics), shown(e.Settings), visible(e.Prompts), visible(c.domains), append([]int{}, c.chunks...),
		len(c.system), len(c.prompt)})
}
