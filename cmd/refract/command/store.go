package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/refract-eval/refract/cache"
)

// store is what a command that asks models needs of a cache.
type store interface {
	cache.Store
	io.Closer
}

// openStore opens the cache. What only looks ahead finds an empty one where
// there is none yet.
func openStore(ctx context.Context, where string, looks bool, mode []cache.Option) (store, error) {
	s, err := cache.Open(ctx, where, mode...)
	if looks && errors.Is(err, fs.ErrNotExist) && !strings.Contains(where, "://") {
		return nothing{cache.NewMemory()}, nil
	}
	if err != nil {
		return nil, err // and not a store that is a nil *cache.Database
	}
	return s, nil
}

// nothing is a cache without a file.
type nothing struct{ *cache.Memory }

func (nothing) Close() error { return nil }
