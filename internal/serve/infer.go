package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/oip"
)

// maxRows bounds the values of an input.
const maxRows = 1_000_000

// inference is a request to a model.
type inference struct {
	models       Models
	name, length string // of the model; bytes of JSON in the body, "" for all
	body         []byte
	raw          []byte // of the request, and then of the answer; nil for none
}

// infer scores the rows of a request.
func (q *inference) infer(ctx context.Context, m *Model) (any, error) {
	var err error
	if q.body, q.raw, err = oip.Split(q.length, q.body); err != nil {
		return nil, &Usage{err}
	}
	var r struct {
		ID         string         `json:"id"`
		Parameters oip.Parameters `json:"parameters"`
		Inputs     []oip.Tensor   `json:"inputs"`
		Outputs    []oip.Tensor   `json:"outputs"`
	}
	err = json.Unmarshal(q.body, &r)
	if err == nil && !utf8.Valid(q.body) {
		err = errors.New("it is not valid UTF-8")
	}
	if err != nil {
		return nil, &Usage{fmt.Errorf("the request is no JSON of the protocol: %w", err)}
	}
	rows, err := q.rows(m, r.Inputs)
	if err != nil {
		return nil, &Usage{err}
	}
	if r.Outputs == nil {
		r.Outputs = []oip.Tensor{{Name: "score"}}
	}
	for _, o := range r.Outputs {
		if o.Name != "score" && o.Name != "facts" {
			return nil, &Usage{fmt.Errorf("the model has no output %.60q", o.Name)}
		}
	}
	scores, err := q.models.Score(ctx, q.name, rows)
	if err != nil {
		return nil, err
	}
	values := make([]float32, len(scores))
	for i, v := range scores {
		if values[i] = float32(v); math.IsInf(float64(values[i]), 0) {
			return nil, fmt.Errorf("row %d has the score %v, which is beyond FP32", i, v)
		}
	}
	q.raw = nil
	outputs := make([]oip.Tensor, len(r.Outputs))
	for i, o := range r.Outputs {
		out, facts := oip.Tensor{Name: o.Name, Datatype: "FP32", Shape: []int{len(values)}}, []string{string(m.Facts)}
		if o.Name == "facts" {
			out.Datatype, out.Shape = "BYTES", []int{1}
		}
		switch before, asked := len(q.raw), o.Parameters.Binary; {
		case asked == nil && !r.Parameters.All || asked != nil && !*asked:
			var data any = values
			if o.Name == "facts" {
				data = facts
			}
			out.Data, err = json.Marshal(data)
		case o.Name == "facts":
			q.raw = oip.AppendTexts(q.raw, facts)
			out.Parameters.Size = new(len(q.raw) - before)
		default:
			q.raw, err = binary.Append(q.raw, binary.LittleEndian, values)
			out.Parameters.Size = new(len(q.raw) - before)
		}
		if err != nil {
			return nil, err
		}
		outputs[i] = out
	}
	return map[string]any{"id": r.ID, "model_name": q.name, "model_version": modelVersion, "outputs": outputs}, nil
}

// rows reads the inputs of a request.
func (q *inference) rows(m *Model, inputs []oip.Tensor) ([]Row, error) {
	texts := map[string][]string{}
	var counts []int32
	for i := range inputs {
		t := &inputs[i]
		var err error
		switch wants := map[string]bool{"hypothesis": true, "source": m.Source, "reference": m.Reference}; {
		case texts[t.Name] != nil || t.Name == "nrefs" && counts != nil:
			err = fmt.Errorf("the input %s is there twice", t.Name)
		case wants[t.Name] && t.Datatype == "BYTES":
			texts[t.Name], err = take(q, t, oip.Texts)
		case t.Name == "nrefs" && m.Native && t.Datatype == "INT32":
			counts, err = take(q, t, integers)
		default:
			err = fmt.Errorf("the model has no input %.60q of the datatype %.20q", t.Name, t.Datatype)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(q.raw) > 0 {
		return nil, fmt.Errorf("%d bytes belong to no input", len(q.raw))
	}
	n := len(texts["hypothesis"])
	if n == 0 {
		return nil, errors.New("the request has no hypothesis")
	}
	if counts == nil {
		counts = make([]int32, n)
		for i := range counts {
			counts[i] = 1
		}
	}
	rows := make([]Row, n)
	left := texts["reference"]
	if m.Source && len(texts["source"]) != n || len(counts) != n {
		return nil, fmt.Errorf("there are %d hypotheses, %d sources and %d numbers of references", n, len(texts["source"]), len(counts))
	}
	for i := range rows {
		if rows[i].Hypothesis = texts["hypothesis"][i]; m.Source {
			rows[i].Source = texts["source"][i]
		}
		if !m.Reference {
			continue
		}
		if counts[i] < 1 || int(counts[i]) > len(left) {
			return nil, fmt.Errorf("hypothesis %d has %d references, and %d are left", i, counts[i], len(left))
		}
		rows[i].References, left = left[:counts[i]], left[counts[i]:]
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%d references belong to no hypothesis", len(left))
	}
	return rows, nil
}

// take reads the values of an input: those in its JSON, or in the next bytes behind it.
func take[T any](q *inference, t *oip.Tensor, parse func([]byte) ([]T, error)) (values []T, err error) {
	if len(t.Shape) > 0 && t.Shape[0] > maxRows {
		return nil, fmt.Errorf("the input %s has the shape %v, and at most %d values are taken: part the request", t.Name, t.Shape, maxRows)
	}
	if size := t.Parameters.Size; size != nil {
		if *size < 0 || *size > len(q.raw) {
			return nil, fmt.Errorf("the input %s has %d bytes, and %d are left", t.Name, *size, len(q.raw))
		}
		if values, err = parse(q.raw[:*size]); err != nil {
			return nil, fmt.Errorf("the input %s: %w", t.Name, err)
		}
		q.raw = q.raw[*size:]
	} else if values, err = listed[T](t); err != nil {
		return nil, err
	}
	if len(t.Shape) == 0 || t.Shape[0] != len(values) {
		return nil, fmt.Errorf("the input %s has %d values and the shape %v", t.Name, len(values), t.Shape)
	}
	return values, nil
}

// listed reads the values in the JSON of an input, one by one: a list that is longer than
// its shape says takes no more memory.
func listed[T any](t *oip.Tensor) (values []T, err error) {
	d := json.NewDecoder(bytes.NewReader(t.Data))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return nil, fmt.Errorf("the input %s has no list of values in its data", t.Name)
	}
	for d.More() {
		if len(t.Shape) > 0 && len(values) == t.Shape[0] {
			return nil, fmt.Errorf("the input %s has more values than its shape %v", t.Name, t.Shape)
		}
		var v *T
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("the input %s has no list of values in its data: %w", t.Name, err)
		}
		if v == nil {
			return nil, fmt.Errorf("value %d of the input %s is null", len(values), t.Name)
		}
		values = append(values, *v)
	}
	return values, nil
}

func integers(b []byte) ([]int32, error) {
	out := make([]int32, len(b)/4)
	n, err := binary.Decode(b, binary.LittleEndian, out)
	if err == nil && n < len(b) {
		err = fmt.Errorf("%d bytes are too many", len(b)-n)
	}
	return out, err
}
