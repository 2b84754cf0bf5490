//go:build !unix

package atomicfile

// syncFolder does nothing where folders cannot be opened for it.
func syncFolder(string) error { return nil }
