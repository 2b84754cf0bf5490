package program

import (
	"os/exec"
	"syscall"
)

// tie makes a program die with this process, even if this process is killed. The program
// gets its own process group, so that an interrupt at the terminal reaches only this
// process.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
