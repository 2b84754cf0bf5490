package neural

import (
	"fmt"
	"slices"
	"strings"
)

// The tensors of a request, and of an answer.
const (
	inHypothesis = "hypothesis"
	inSource     = "source"
	inReference  = "reference"
	inPairs      = "pairs"
	inCounts     = "nrefs"
	outSpans     = "error_spans"
	outFacts     = "facts"

	bytesType = "BYTES"
	int32Type = "INT32"
	fp32Type  = "FP32"
)

// description is a server's metadata of a model.
type description struct {
	Name     string        `json:"name"`
	Versions []string      `json:"versions"`
	Platform string        `json:"platform"`
	Inputs   []declaration `json:"inputs"`
	Outputs  []declaration `json:"outputs"`
}

// declaration is a tensor in it. A dimension of -1 is of any length.
type declaration struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
}

// form says how a model is asked.
type form struct {
	// bySegment has each text once, and rows as triples of indices. Without it the
	// request is flat: each row has its own texts.
	bySegment         bool
	source, reference bool // what the metric needs
	counts            bool // flat, with the number of references of each hypothesis
	spans, facts      bool // what it gives beside scores
}

// formOf finds the form of a model that is to give an output.
func formOf(d *description, output string) (*form, error) {
	f := &form{}
	declared := func(all []declaration, name, datatype string, shapes [][]int) (bool, error) {
		i := slices.IndexFunc(all, func(t declaration) bool { return t.Name == name })
		if i < 0 {
			return false, nil
		}
		t := all[i]
		if t.Datatype != datatype {
			return true, fmt.Errorf("the model's tensor %q is %.20q in place of %s", name, t.Datatype, datatype)
		}
		if len(t.Shape) > 0 && !slices.ContainsFunc(shapes, func(s []int) bool { return slices.Equal(s, t.Shape) }) {
			return true, fmt.Errorf("the model's tensor %q has the shape %.60s in place of %v; a model of Triton has max_batch_size 0", name, fmt.Sprint(t.Shape), shapes[0])
		}
		return true, nil
	}
	any1 := [][]int{{-1}}
	var has [8]bool
	for i, t := range []struct {
		all            []declaration
		name, datatype string
		shapes         [][]int
	}{
		{d.Inputs, inHypothesis, bytesType, any1}, {d.Inputs, inSource, bytesType, any1}, {d.Inputs, inReference, bytesType, any1},
		{d.Inputs, inPairs, int32Type, [][]int{{-1, 3}}}, {d.Inputs, inCounts, int32Type, any1},
		{d.Outputs, output, fp32Type, any1}, {d.Outputs, outSpans, bytesType, any1},
		{d.Outputs, outFacts, bytesType, [][]int{{1}, {-1}}},
	} {
		var err error
		if has[i], err = declared(t.all, t.name, t.datatype, t.shapes); err != nil {
			return nil, err
		}
	}
	f.source, f.reference, f.bySegment, f.counts, f.spans, f.facts = has[1], has[2], has[3], has[4], has[6], has[7]
	known := []string{inHypothesis, inSource, inReference, inPairs, inCounts}
	for _, t := range d.Inputs {
		if !slices.Contains(known, t.Name) {
			return nil, fmt.Errorf("the model wants an input %.60q, which no metric has; inputs are %s", t.Name, strings.Join(known, ", "))
		}
	}
	switch {
	case !has[0]:
		return nil, fmt.Errorf("the model states no input %q: is it a metric? Its inputs are %s", inHypothesis, names(d.Inputs))
	case !has[5]:
		return nil, fmt.Errorf("the model states no output %q; its outputs are %s", output, names(d.Outputs))
	case f.bySegment && f.counts:
		return nil, fmt.Errorf("the model has both %q and %q; a request is by segment or flat", inPairs, inCounts)
	case f.counts && !f.reference:
		return nil, fmt.Errorf("the model has %q without %q", inCounts, inReference)
	}
	return f, nil
}

func names(all []declaration) string {
	if len(all) == 0 {
		return "none"
	}
	var out []string
	for _, t := range all[:min(len(all), 10)] {
		out = append(out, fmt.Sprintf("%.60q", t.Name))
	}
	return strings.Join(out, ", ")
}
