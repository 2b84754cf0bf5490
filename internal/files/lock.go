package files

import (
	"errors"
	"os"
)

// TryLock locks an open file or folder against other processes, until the file is
// closed or the process ends in any way. It returns false if another holds the
// lock, and errors.ErrUnsupported if the system has no such locks.
func TryLock(f *os.File) (bool, error) {
	err := try(f)
	if errors.Is(err, errHeld) {
		return false, nil
	}
	return err == nil, err
}
