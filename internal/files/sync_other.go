//go:build !unix

package files

// syncFolder does nothing where folders cannot be opened for it.
func syncFolder(string) error { return nil }
