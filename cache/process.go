package cache

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// processIdentity identifies this process, so that another one on the same machine can
// tell that it is gone. It consists of the machine's boot, the PID name space, the PID,
// and the time of the start, because PIDs are reused. It is "" if the system does not
// tell all of them; then only the lease shows that the process is gone.
func processIdentity() string {
	space, start := processSpace(), processStart(os.Getpid())
	if space == "" || start == "" {
		return ""
	}
	return fmt.Sprintf("%s %d %s", space, os.Getpid(), start)
}

// processGone reports whether a process is known to have ended. It is false for a process
// on another machine or in another container, and if nothing is known.
func processGone(identity string) bool {
	fields := strings.Fields(identity)
	if len(fields) != 3 || fields[0] != processSpace() {
		return false
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return false
	}
	if start := processStart(pid); start != "" {
		return start != fields[2]
	}
	// There is no such process, or its user's processes are hidden.
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// processSpace identifies the machine's boot and the PID name space, on Linux.
func processSpace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, spaceErr := os.Readlink("/proc/self/ns/pid")
	if err != nil || spaceErr != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + strings.Join(strings.Fields(space), "")
}

// processStart returns the start time of a process in ticks since the boot, "ended" for a
// zombie, or "" for a process that does not exist or is hidden.
func processStart(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name, in parentheses, may contain any characters.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	const state, start = 0, 19 // indexes of fields after the name
	switch {
	case len(fields) <= start:
		return ""
	case fields[state] == "Z" || fields[state] == "X":
		return "ended"
	}
	return fields[start]
}
