package cache

import (
	"context"
	"fmt"
)

// GetMany returns the answers of keys as [Many] does, from any store: one by
// one from a store that is no [Many].
func GetMany(ctx context.Context, s Store, keys []Key) (answers []Answer, found []bool, err error) {
	if many, ok := s.(Many); ok {
		return many.GetMany(ctx, keys)
	}
	answers, found = make([]Answer, len(keys)), make([]bool, len(keys))
	for i, key := range keys {
		e, ok, err := s.Get(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		answers[i], found[i] = e.Answer, ok
	}
	return answers, found, nil
}

// Claim claims keys as a [Claimer] does, of any store. One that is no Claimer
// is used by nobody else, and grants them all.
func Claim(ctx context.Context, s Store, keys []Key) (granted []bool, err error) {
	if c, ok := s.(Claimer); ok {
		return c.Claim(ctx, keys)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	granted = make([]bool, len(keys))
	for i := range granted {
		granted[i] = true
	}
	return granted, nil
}

// Release gives claims up as a [Claimer] does, of any store.
func Release(ctx context.Context, s Store, keys []Key) error {
	if c, ok := s.(Claimer); ok {
		return c.Release(ctx, keys)
	}
	return ctx.Err()
}

// Keep stores an entry and returns the answer that counts as a [Keeper] does,
// in any store: by reading it back from one that is no Keeper.
func Keep(ctx context.Context, s Store, e Entry) (Answer, error) {
	if k, ok := s.(Keeper); ok {
		return k.Keep(ctx, e)
	}
	if err := s.Put(ctx, e); err != nil {
		return Answer{}, err
	}
	answers, found, err := GetMany(ctx, s, []Key{e.Request.Key()})
	if err == nil && !found[0] {
		err = fmt.Errorf("cache: the store has lost entry %s, which it was given", e.Request.Key())
	}
	if err != nil {
		return Answer{}, fmt.Errorf("the answer cannot be read back: %w", err)
	}
	return answers[0], nil
}
