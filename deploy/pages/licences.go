package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// licences returns the licence texts of Go and of the modules that the programs link, on any of the
// systems. A module without a licence is an error, and so is a GNU licence.
func licences() ([]byte, error) {
	root, err := list("env", "linux", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules := map[string]string{"Go": strings.TrimSpace(root)} // folders
	for _, system := range []string{"linux", "darwin", "windows"} {
		out, err := list("list", system, "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/...")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				modules[name] = dir
			}
		}
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		entries, err := os.ReadDir(modules[name])
		if err != nil {
			return nil, err
		}
		var files []string
		for _, e := range entries {
			if licence.MatchString(e.Name()) && !e.IsDir() {
				files = append(files, e.Name())
			}
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s has no licence in %s: read its page, and name the file here", name, modules[name])
		}
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(modules[name], file))
			if err != nil {
				return nil, err
			}
			if bytes.Contains(text, []byte("GENERAL PUBLIC LICENSE")) { // in the title of GPL, LGPL and AGPL
				return nil, fmt.Errorf("%s is under a GNU licence, and programs under MIT link none: use another module", name)
			}
			fmt.Fprintf(&b, "==== %s: %s\n\n%s\n\n", name, file, bytes.TrimSpace(text))
		}
	}
	return b.Bytes(), nil
}

// list runs a go command for a system.
func list(command, system string, args ...string) (string, error) {
	cmd := exec.Command("go", append([]string{command}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", command, err)
	}
	return string(out), nil
}
