// Package demo holds a small benchmark that its authors wrote for this
// program: translations from German into English and from English into
// German, summaries and image captions, with the outputs of four made-up
// systems of clearly different quality, the authors' own judgements of them
// (named "authors", 0 to 100), and an answer to each of the ten prompts for
// every reference; one has a second answer, because the first is rejected for a
// changed number. Systems, judgements and answers have one origin, so the
// numbers show how the program works and are no evidence for anything.
package demo

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
	"github.com/refract-eval/refract/llm/ask"
)

// Model is the model's name under which the answers are recorded.
const Model = "recorded"

//go:embed sample.jsonl
var sample []byte

//go:embed answers.jsonl
var answers []byte

// files are those that are saved beside the sample: answers of a judge, and five
// lines of each of some texts with an experiment and prompts.
//
//go:embed judged.jsonl texts
var files embed.FS

// Expand expands the sample from its recorded answers.
func Expand(ctx context.Context) ([]*refract.Segment, diversify.Summary, error) {
	store := cache.NewMemory()
	if _, err := cache.Import(ctx, bytes.NewReader(answers), store); err != nil {
		return nil, diversify.Summary{}, err
	}
	ds, err := dataset.Open("jsonl:-", dataset.Options{Stdin: bytes.NewReader(sample)})
	if err != nil {
		return nil, diversify.Summary{}, err
	}
	checks, err := check.New(check.Config{})
	if err != nil {
		return nil, diversify.Summary{}, err
	}
	x, err := diversify.New(diversify.Config{
		Prompts: diversify.Ten(), Model: Model, Config: ask.Config{Store: store},
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

// Write saves in a folder the sample as sample.jsonl, its answers as
// answers.jsonl, and what else the documentation's commands read: src.txt, ref.txt,
// ref2.txt, a.txt, b.txt, experiment.yaml, prompts.yaml and judged.jsonl. It writes
// over no file that has something else in it.
func Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := errors.Join(writeNew(filepath.Join(dir, "sample.jsonl"), sample), writeNew(filepath.Join(dir, "answers.jsonl"), answers))
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return writeNew(filepath.Join(dir, entry.Name()), data)
	})
}

func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, data) {
			return nil
		}
		return fmt.Errorf("%s is there already; move it away, or choose another folder", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // a part of it is no sample
	}
	return err
}
