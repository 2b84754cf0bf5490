//go:build unix && !linux

package program

import (
	"os/exec"
	"syscall"
)

// tie gives a program a group of its own: an interrupt at the terminal is this
// process's to deal with. Where this process is killed, the program's input ends.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
