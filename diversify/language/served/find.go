package served

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	// Name is that of the program.
	Name = "refract-languages"
	// Variable names the program, where it is not found by itself, or is None.
	Variable = "REFRACT_LANGUAGES"
	// None does without the program.
	None = "none"
)

// Find returns the path of the program, or "" where there is none: what the Variable
// names, or else one in the folder of the running program or on the PATH. A folder that
// PATH names by no absolute path is left out. Errors: the Variable names no program.
func Find(getenv func(string) string) (string, error) {
	switch named := getenv(Variable); named {
	case "":
	case None:
		return "", nil
	default:
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s is to be the program %s, or %s to do without: %w", Variable, Name, None, err)
		}
		return path, nil
	}
	if exe, err := os.Executable(); err == nil {
		places := []string{exe}
		if target, err := filepath.EvalSymlinks(exe); err == nil && target != exe {
			places = append(places, target)
		}
		for _, place := range places {
			if path, err := exec.LookPath(filepath.Join(filepath.Dir(place), Name)); err == nil {
				return path, nil
			}
		}
	}
	if path, err := exec.LookPath(Name); err == nil { // an error where it is in the folder "."
		return path, nil
	}
	return "", nil
}
