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

// processIdentity names this process so that another one on the same machine
// can tell that it is gone: the boot of the machine and the name space of
// process numbers, the number, and the time of the start, as a number is used
// again. It is "" where the system does not tell all of them; then only the
// lease shows that a process is gone.
func processIdentity() string {
	space, start := processSpace(), processStart(os.Getpid())
	if space == "" || start == "" {
		return ""
	}
	return fmt.Sprintf("%s %d %s", space, os.Getpid(), start)
}

// processGone reports whether a process is known to have ended. It is false
// for one on another machine, in another container, or not known.
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
	// No such process, or one of a user whose processes are not shown.
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// processSpace names the machine's boot and its name space of process
// numbers, as Linux has them.
func processSpace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, spaceErr := os.Readlink("/proc/self/ns/pid")
	if err != nil || spaceErr != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + strings.Join(strings.Fields(space), "")
}

// processStart returns when a process began, in ticks since the boot, "ended"
// for one that has and waits for its parent, or "" for one that is not there
// or not shown.
func processStart(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	const state, start = 0, 19 // counted after the name
	switch {
	case len(fields) <= start:
		return ""
	case fields[state] == "Z" || fields[state] == "X":
		return "ended"
	}
	return fields[start]
}
