package served

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/diversify/language"
)

// Serve answers requests by models until the input ends.
func Serve(in io.Reader, out io.Writer, models language.Models) error {
	lines, answers := json.NewDecoder(in), json.NewEncoder(out)
	if err := answers.Encode(hello{Protocol: protocol, Models: models.Name()}); err != nil {
		return err
	}
	for {
		var r request
		switch err := lines.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("standard input has no request: %w", err)
		}
		a := answer{ID: r.ID}
		var err error
		if a.Probabilities, err = probabilities(models, r.Texts); err != nil {
			a.Probabilities, a.Error = nil, err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// probabilities asks the models about several texts at a time.
func probabilities(models language.Models, texts []question) ([][]float64, error) {
	out := make([][]float64, len(texts))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, q := range texts {
		all.Go(func() (err error) {
			out[i], err = models.Probabilities(q.Text, q.Codes)
			return err
		})
	}
	return out, all.Wait()
}
