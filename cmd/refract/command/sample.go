package command

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/program"
)

// sampleModel is the model's name under which the answers are recorded.
const sampleModel = "recorded"

// sampleFiles are a small benchmark that the authors wrote for this program:
// translations, summaries and captions with the outputs of six made-up systems,
// judgements of them by meaning, and an answer to each of the ten prompts for every
// reference; one has a second answer, because the first is rejected for a changed
// number. It all has one origin, so the numbers are no evidence for anything. Next to it
// are answers of a judge, and five lines of each of some texts with an experiment and
// prompts.
//
//go:embed sample
var sampleFiles embed.FS

// expandSample expands the sample from its recorded answers.
func expandSample(ctx context.Context) ([]*refract.Segment, diversify.Summary, error) {
	answers, err := sampleFiles.ReadFile("sample/answers.jsonl")
	segments, missing := sampleFiles.ReadFile("sample/sample.jsonl")
	store := cache.NewMemory()
	_, wrong := cache.Import(ctx, bytes.NewReader(answers), store)
	ds, unread := dataset.Open("jsonl:-", dataset.Options{Stdin: bytes.NewReader(segments)})
	checks, unmade := check.New(check.Config{})
	if err := errors.Join(err, missing, wrong, unread, unmade); err != nil {
		return nil, diversify.Summary{}, err
	}
	x, err := diversify.New(diversify.Config{
		Prompts: diversify.Ten(), Model: sampleModel, Config: ask.Config{Store: store},
		Temperature: diversify.PaperTemperature, TopP: diversify.PaperTopP, Check: checks, Resample: 2,
	})
	if err != nil {
		return nil, diversify.Summary{}, err
	}
	var out []*refract.Segment
	sum, err := x.Expand(ctx, ds, func(s *refract.Segment) error {
		out = append(out, s)
		return nil
	})
	return out, sum, err
}

// saveSample saves the sample in a folder: sample.jsonl, answers.jsonl, and the other
// files that the documentation uses. It overwrites no file with other contents.
func saveSample(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return files.CannotCreate(dir, dir, err)
	}
	if err := writeNew(filepath.Join(dir, "refract_metric.py"), program.Helper); err != nil {
		return err
	}
	return fs.WalkDir(sampleFiles, "sample", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := sampleFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return writeNew(filepath.Join(dir, entry.Name()), data)
	})
}

func writeNew(path string, data []byte) error {
	switch there, err := os.ReadFile(path); {
	case err == nil && bytes.Equal(there, data):
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is there already; move it away, or choose another folder", path)
	}
	out, err := files.Create(path) // so that an incomplete file is not taken for the sample
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Commit()
}
