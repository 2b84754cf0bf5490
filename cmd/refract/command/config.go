package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// configName is looked for only in the working directory: a file next to the data could
// send a key to a server of its author's choice.
const configName = "refract.yaml"

// configKeys are the flags of commands that a configuration file or the environment may
// set, by name.
func configKeys(cmds ...*cobra.Command) map[string]*pflag.Flag {
	keys := map[string]*pflag.Flag{}
	for _, cmd := range cmds {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if knownOf(f).fromConfig {
				keys[f.Name] = f
			}
		})
	}
	return keys
}

const environmentPrefix = "REFRACT_"

// environmentName is the environment variable of a flag.
func environmentName(key string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// configure sets the flags of a command that are not on the command line by the
// environment, or else by the configuration file.
func (e *env) configure(cmd *cobra.Command) error {
	open := configKeys(cmd)
	if len(open) == 0 && e.configPath == "" {
		return nil
	}
	keys := configKeys(cmd.Root().Commands()...)
	e.checkEnvironment(slices.Sorted(maps.Keys(keys)))
	path := cmp.Or(e.configPath, configName)
	file, stated, err := readConfig(path, keys)
	if is[*fs.PathError](err) && e.configPath != "" {
		return usagef("--config: %w", err) // the name may be a key
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usagef("%w", err)
	}
	var used []string
	for _, key := range slices.Sorted(maps.Keys(open)) {
		f := open[key]
		if f.Changed {
			continue
		}
		values, fromFile := stated[f.Name]
		name := environmentName(f.Name)
		v := e.getenv(name)
		switch {
		case v != "":
			if values = []string{v}; f.Value.Type() == "stringArray" {
				values = strings.Fields(strings.ReplaceAll(v, ",", " "))
			}
		case fromFile && f.Name == "base-url" && e.getenv("OPENAI_BASE_URL") != "":
			e.note("%s: base-url is not used, as OPENAI_BASE_URL is set", path)
			continue
		case fromFile:
			used = append(used, f.Name)
		}
		for _, one := range values {
			if err := f.Value.Set(one); err != nil && v != "" { // the value may be a secret in the wrong place
				return usagef("%s: the value is not one that --%s takes ('refract help all' has them)", name, f.Name)
			} else if err != nil {
				return usagef("%w", file.At(yamlfile.Wrong(f.Name, "%w", numberError(err))))
			}
		}
	}
	if len(used) > 0 {
		e.note("configuration: %s (%s)", path, strings.Join(used, ", "))
	}
	return nil
}

// checkEnvironment warns about variables that are probably misspelt.
func (e *env) checkEnvironment(keys []string) {
	for _, variable := range e.environ {
		name, _, _ := strings.Cut(variable, "=")
		word, ours := strings.CutPrefix(name, environmentPrefix)
		key := strings.ToLower(strings.ReplaceAll(word, "_", "-"))
		if near := english.Nearest(key, keys); ours && near != "" && near != key {
			e.warn("the environment variable %s is unknown; did you mean %s?", name, environmentName(near))
		}
	}
}

// readConfig reads a configuration file into the values of flags by key. Errors have
// the file and the line, and never a value, which may be a secret.
func readConfig(path string, keys map[string]*pflag.Flag) (f *yamlfile.File, values map[string][]string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	if f, err = yamlfile.Read(path, in); err != nil {
		return nil, nil, err
	}
	var raw map[string]any
	if err := f.Decode(&raw, "state flags about models, servers and budgets"); err != nil {
		return nil, nil, err
	}
	values = map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if redact.SecretField("", raw[key]) != "" || keys[key] == nil && redact.IsSecretKey(key) {
			err = errors.New("a secret has no place in this file: keys of servers are read from OPENAI_API_KEY, passwords of Postgres from PGPASSWORD or ~/.pgpass")
		} else if keys[key] == nil {
			err = english.Unknown("key", key, slices.Sorted(maps.Keys(keys)))
		} else {
			values[key], err = configValues(keys[key], filepath.Dir(path), raw[key])
		}
		if err != nil {
			return nil, nil, f.At(yamlfile.Wrong(key, "%w", err))
		}
	}
	return f, values, nil
}

// configValues are the values of a flag from a file in a folder: a list for one that may
// be given several times, and a table as JSON for one that takes that.
func configValues(f *pflag.Flag, folder string, value any) (out []string, err error) {
	switch v := value.(type) {
	case []any:
		if f.Value.Type() == "stringArray" {
			for _, one := range v {
				out = append(out, fmt.Sprint(one))
			}
			return out, nil
		}
	case map[string]any:
		if f.Value.Type() == tableType {
			table, err := json.Marshal(v)
			return []string{string(table)}, err
		}
	case nil:
	default:
		text := fmt.Sprint(v)
		return []string{knownOf(f).absolute(folder, text)}, nil
	}
	return nil, errors.New("takes one value, not a list, a table or none")
}
