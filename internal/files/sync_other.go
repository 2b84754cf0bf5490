//go:build !unix

package files

// syncFolder does nothing on systems that cannot sync a folder.
func syncFolder(string) error { return nil }
