//go:build unix

package program

import (
	"os/exec"
	"syscall"
)

// terminate asks the processes of a program's group to exit.
func terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill kills the processes of a program's group.
func kill(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
