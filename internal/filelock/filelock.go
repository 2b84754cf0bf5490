// Package filelock locks open files between processes. The lock ends with the
// file or with its process, however that ends.
package filelock

import (
	"errors"
	"os"
)

// Try locks an open file or folder for this open file alone. It is false where
// another holds the lock, and an errors.ErrUnsupported where the system has no
// such lock.
func Try(f *os.File) (bool, error) {
	err := try(f)
	if errors.Is(err, errHeld) {
		return false, nil
	}
	return err == nil, err
}
