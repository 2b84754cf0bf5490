package cache

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// process names a process of this machine for others that see the same processes: by the machine's start,
// the namespaces of PIDs and clocks, the PID and when it began. Linux tells these; elsewhere, and for a
// process that cannot be looked at, the name is "".
func process(pid int) string {
	self, _ := os.Readlink("/proc/self")
	boot, unknown := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, unnamed := os.Readlink("/proc/self/ns/pid")
	clocks, _ := os.Readlink("/proc/self/ns/time") // "" in old kernels, which have one for all
	stat, unread := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ") // the program's name before may hold anything, but ours
	fields := strings.Fields(after)
	if errors.Join(unknown, unnamed, unread) != nil || self != fmt.Sprint(os.Getpid()) || len(fields) < 20 {
		return "" // or /proc shows the processes of another namespace
	}
	began := fields[19]
	if strings.Contains("ZX", fields[0]) {
		began = "ended"
	}
	return fmt.Sprintf("%s %s%s %d %s", strings.TrimSpace(string(boot)), pids, clocks, pid, began)
}

// ended reports whether a process is certain to run no more.
func ended(name string) bool {
	var boot, spaces, began, ownBoot, ownSpaces string
	var pid int
	_, odd := fmt.Sscan(name, &boot, &spaces, &pid, &began)
	_, own := fmt.Sscan(process(os.Getpid()), &ownBoot, &ownSpaces)
	if odd != nil || own != nil || boot != ownBoot || spaces != ownSpaces {
		return false
	}
	p, err := os.FindProcess(pid)
	if err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return true
	}
	now := process(pid)
	return now != "" && now != name
}
