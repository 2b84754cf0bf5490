//go:build !unix

package program

import (
	"errors"
	"os/exec"
)

func tie(*exec.Cmd) {}

func terminate(*exec.Cmd) error { return errors.ErrUnsupported }

func kill(cmd *exec.Cmd) error { return cmd.Process.Kill() }
