//go:build !unix

package cache

import "io/fs"

// isOwn is true where each user has a temporary folder that others cannot write to.
func isOwn(fs.FileInfo) bool { return true }
