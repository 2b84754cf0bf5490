//go:build unix && !linux

package program

import (
	"os/exec"
	"syscall"
)

// tie gives a program its own process group, so that an interrupt at the terminal reaches
// only this process. If this process is killed, the program's input ends.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
