package object

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// held is a bucket with one object.
type held struct {
	bytes []byte
	reads int
	open  int // readers that are not closed
}

func (h *held) size(context.Context, string) (int64, error) { return int64(len(h.bytes)), nil }

func (h *held) read(_ context.Context, _ string, from, n int64) (io.ReadCloser, error) {
	h.reads++
	h.open++
	if n < 0 {
		n = int64(len(h.bytes)) - from
	}
	if from+n > int64(len(h.bytes)) {
		return nil, errors.New("a range behind the end")
	}
	return counted{iotest.HalfReader(bytes.NewReader(h.bytes[from : from+n])), h}, nil
}

func (h *held) write(context.Context, string) (io.WriteCloser, error) {
	return nil, errors.New("no writing")
}
func (h *held) close() error { return nil }

type counted struct {
	io.Reader
	h *held
}

func (c counted) Close() error { c.h.open--; return nil }

// What is read in a stream and at places is what the object holds.
func TestReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{0, 1, 100, blockBytes - 1, blockBytes, blockBytes + 1, 3*blockBytes + 17}).Draw(t, "size")
		h := &held{bytes: make([]byte, size)}
		for i := range h.bytes {
			h.bytes[i] = byte(i * 31 >> 3)
		}
		r, err := newReader(t.Context(), h, place{key: "k", name: "s3://b/k"})
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(all, h.bytes) {
			t.Fatalf("%d of %d bytes, %v", len(all), size, err)
		}
		for range 5 {
			at := rapid.IntRange(0, size+10).Draw(t, "at")
			b := make([]byte, rapid.IntRange(0, size+10).Draw(t, "n"))
			n, err := r.ReadAt(b, int64(at))
			want := h.bytes[min(at, size):min(at+len(b), size)]
			if !bytes.Equal(b[:n], want) || (n < len(b)) != (err == io.EOF) || n == len(b) && err != nil {
				t.Fatalf("%d bytes from %d of %d: %d, %v", len(b), at, size, n, err)
			}
		}
		if info, err := r.Stat(); err != nil || info.Size() != int64(size) || !info.Mode().IsRegular() {
			t.Fatalf("%v, %v", info, err)
		}
		if err := r.Close(); err != nil || h.open != 0 {
			t.Fatalf("%d readers are open, %v", h.open, err)
		}
	})
}

// Small reads beside each other are few requests.
func TestReaderAsksSeldom(t *testing.T) {
	h := &held{bytes: make([]byte, 4*blockBytes)}
	r, err := newReader(t.Context(), h, place{})
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(h.bytes); at += 4096 {
		if _, err := r.ReadAt(make([]byte, 4096), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if h.reads != 4 {
		t.Errorf("%d requests, want 4", h.reads)
	}
}

func TestCheck(t *testing.T) {
	for name, want := range map[string]string{
		"out.csv": "", "C:/out.csv": "", "postgres://me:s3cret@host/db": "",
		"s3://bucket/key": "", "S3://bucket/a/b.jsonl?region=eu-west-1&endpoint=http://127.0.0.1:9000&use_path_style=true": "",
		"gs://bucket/key": "", "file:///a/b": "",
		"s3://bucket":                              "BUCKET/KEY",
		"s3://bucket/":                             "BUCKET/KEY",
		"s3://bucket/folder/":                      "BUCKET/KEY",
		"s3://me:s3cret@bucket/key":                "environment",
		"s3://bucket/key?aws_secret=s3cret":        "not known",
		"s3://bucket/key?endpoint=http://s3cret@h": "endpoint",
		"s3://bucket/s3cret#x":                     "%23",
		"s3://bucket/%zzs3cret":                    "%25",
		"file://host/s3cret":                       "file:///PATH",
		"file:///a?s3cret":                         "file:///PATH",
	} {
		err := Check(name)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	if !Same("s3://b/k", "S3://b/k?region=x") || Same("s3://b/k", "s3://b/k/") || Same("s3://b/k", "gs://b/k") || Same("k", "k") {
		t.Error("Same")
	}
	if got := Bare("s3://b/k.csv?region=x"); got != "s3://b/k.csv" || Ext(got) != ".csv" || Bare("a?b") != "a?b" {
		t.Error(got)
	}
	if got, ok := Local("file:///a%20b"); got != "/a b" || !ok {
		t.Error(got)
	}
	if _, ok := Local("s3://b/k"); ok {
		t.Error("an object is local")
	}
}

func TestFault(t *testing.T) {
	p := place{name: "s3://b/k"}
	if err := p.fault("read", fs.ErrNotExist); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), p.name) {
		t.Error(err)
	}
	if err := p.fault("read", errors.New("Forbidden")); !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") || !strings.Contains(err.Error(), "Forbidden") {
		t.Error(err)
	}
}
