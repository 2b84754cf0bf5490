//go:build unix

package files

import (
	"errors"
	"os"
)

// syncFolder waits until the entries of a folder are on the disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
