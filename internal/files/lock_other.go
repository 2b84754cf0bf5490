//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package files

import (
	"errors"
	"os"
)

var errHeld = errors.New("the file is locked")

func try(*os.File) error { return errors.ErrUnsupported }
