package files

import (
	"errors"
	"os"
)

// TryLock locks an open file or folder against other processes. The lock ends with
// the file or with its process, however that ends. It is false where
// another holds the lock, and an errors.ErrUnsupported where the system has no
// such lock.
func TryLock(f *os.File) (bool, error) {
	err := try(f)
	if errors.Is(err, errHeld) {
		return false, nil
	}
	return err == nil, err
}
