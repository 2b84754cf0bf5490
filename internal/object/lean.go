//go:build !cloud

package object

import "context"

func openBucket(context.Context, string) (bucket, error) { return nil, noStores{} }
