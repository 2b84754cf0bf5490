package program

import (
	"os/exec"
	"syscall"
)

// tie has a program die with this process, however that ends, and gives it a group
// of its own: an interrupt at the terminal is this process's to deal with.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
