package neural

import (
	"errors"
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
	outSpans     = "error_spans"
	outFacts     = "facts"

	bytesType = "BYTES"
	int32Type = "INT32"
	fp32Type  = "FP32"
)

// sameType reports whether one type stands for another: scores are of any floating type, as
// NumPy's own is FP64, and are rounded to FP32.
func sameType(given, due string) bool {
	return given == due || due == fp32Type && (given == "FP64" || given == "FP16")
}

// description is a server's metadata of a model. A dimension of -1 may have any length.
type description struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"`
	Platform string   `json:"platform"`
	Inputs   []tensor `json:"inputs"`
	Outputs  []tensor `json:"outputs"`
}

// form says which inputs and outputs a model has.
type form struct {
	reads        [3]bool // by column
	flat         bool    // each row has its own texts; otherwise each text is sent once
	spans, facts bool    // whether it also gives these outputs
}

// formOf finds the form of a model that should have an output.
func formOf(d *description, output string) (*form, error) {
	var wrong error
	has := func(all []tensor, name, datatype string, shapes ...[]int) bool {
		i := slices.IndexFunc(all, func(t tensor) bool { return t.Name == name })
		if i < 0 {
			return false
		}
		t := all[i]
		switch {
		case !sameType(t.Datatype, datatype):
			wrong = fmt.Errorf("the model's tensor %q is %.20q instead of %s", name, t.Datatype, datatype)
		case len(t.Shape) > 0 && !slices.ContainsFunc(shapes, func(s []int) bool { return slices.Equal(s, t.Shape) }):
			wrong = fmt.Errorf("the model's tensor %q has the shape %.60s instead of %v; a model of Triton has max_batch_size 0", name, fmt.Sprint(t.Shape), shapes[0])
		}
		return true
	}
	any1 := []int{-1}
	f := &form{spans: has(d.Outputs, outSpans, bytesType, any1), facts: has(d.Outputs, outFacts, bytesType, []int{1}, any1)}
	known := []string{inSource, inHypothesis, inReference, inPairs}
	for column := range f.reads {
		f.reads[column] = has(d.Inputs, known[column], bytesType, any1)
	}
	f.flat = !has(d.Inputs, inPairs, int32Type, []int{-1, 3})
	score := has(d.Outputs, output, fp32Type, any1)
	if wrong != nil {
		return nil, wrong
	}
	for _, t := range d.Inputs {
		if !slices.Contains(known, t.Name) {
			return nil, fmt.Errorf("the model wants an input %.60q, which no metric has; inputs are %s", t.Name, strings.Join(known, ", "))
		}
	}
	switch {
	case len(d.Inputs) == 0:
		return nil, errors.New("the server states no inputs of the model; MLServer reads them from model-settings.json, and a model of KServe has get_input_types and get_output_types")
	case !f.reads[hypothesis]:
		return nil, fmt.Errorf("the model states no input %q: is it a metric? Its inputs are %s", inHypothesis, names(d.Inputs))
	case !score:
		return nil, fmt.Errorf("the model states no output %q; its outputs are %s", output, names(d.Outputs))
	}
	return f, nil
}

func names(all []tensor) string {
	if len(all) == 0 {
		return "none"
	}
	var out []string
	for _, t := range all[:min(len(all), 10)] {
		out = append(out, fmt.Sprintf("%.60q", t.Name))
	}
	return strings.Join(out, ", ")
}
