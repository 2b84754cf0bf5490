//go:build cloud

package object

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"

	"gocloud.dev/blob/memblob"
)

// An object appears when its writer is closed, and not when that is cancelled.
func TestStore(t *testing.T) {
	s := store{memblob.OpenBucket(nil)}
	put := func(text string, cancelled bool) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w, err := s.write(ctx, "k")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if _, err := s.size(ctx, "k"); text == "first" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("before Close: %v", err)
		}
		if cancelled {
			cancel()
		}
		return w.Close()
	}
	if err := put("first", true); err == nil {
		t.Error("a cancelled writer made an object")
	}
	if err := put("first", false); err != nil {
		t.Fatal(err)
	}
	if err := put("second one", true); err == nil {
		t.Error("a cancelled writer made an object")
	}
	r, err := s.read(t.Context(), "k", 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := io.ReadAll(r); err != nil || string(b) != "irs" {
		t.Errorf("%q, %v", b, err)
	}
	if n, err := s.size(t.Context(), "k"); n != 5 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := s.read(t.Context(), "none", 0, -1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
