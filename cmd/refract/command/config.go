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

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// configName is looked for only in the working directory: a file next to the data could
// send a key to a server of its author's choice.
const configName = "refract.yaml"

// configKeys are the flags that a configuration file or the environment may set.
var configKeys = []string{
	"base-url", "concurrency", "timeout", "retries", "wait",
	"model", "form", "judge-model", "embeddings", "cache", "prices", "max-cost", "max-calls", "max-time",
}

const environmentPrefix = "REFRACT_"

// environmentName is the environment variable of a flag.
func environmentName(key string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// isConfigured reports whether a configuration file may set a flag. Some commands have
// a flag of the same name with another meaning, such as a filter.
func isConfigured(f *pflag.Flag) bool {
	in := sectionOf(f)
	return slices.Contains(configKeys, f.Name) && (in == modelFlags || in == budgetFlags)
}

// configure sets the flags of a command that are not on the command line by the
// environment, or else by the configuration file.
func (e *env) configure(cmd *cobra.Command) error {
	var open []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if isConfigured(f) {
			open = append(open, f)
		}
	})
	if len(open) == 0 && e.configPath == "" {
		return nil
	}
	e.checkEnvironment()
	path := cmp.Or(e.configPath, configName)
	file, stated, err := readConfig(path)
	if err != nil && (e.configPath != "" || !errors.Is(err, fs.ErrNotExist)) {
		return usagef("%w", err)
	}
	var used []string
	for _, f := range open {
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
				return usagef("%w", file.At(yamlfile.Wrong(f.Name, "%w", unfit(err))))
			}
		}
	}
	if len(used) > 0 {
		e.note("configuration: %s (%s)", path, strings.Join(used, ", "))
	}
	return nil
}

// checkEnvironment warns about variables that are probably misspelt.
func (e *env) checkEnvironment() {
	for _, variable := range e.environ {
		name, _, _ := strings.Cut(variable, "=")
		word, ours := strings.CutPrefix(name, environmentPrefix)
		key := strings.ToLower(strings.ReplaceAll(word, "_", "-"))
		if near := english.Nearest(key, configKeys); ours && near != "" && near != key {
			e.warn("the environment variable %s is unknown; did you mean %s?", name, environmentName(near))
		}
	}
}

// readConfig reads a configuration file into the values of flags by key. Errors have
// the file and the line, and never a value, which may be a secret.
func readConfig(path string) (f *yamlfile.File, values map[string][]string, err error) {
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
		if values[key], err = configValues(filepath.Dir(path), key, raw[key]); err != nil {
			return nil, nil, f.At(err)
		}
	}
	return f, values, nil
}

func configValues(dir, key string, value any) ([]string, error) {
	known := slices.Contains(configKeys, key)
	switch {
	case !known && redact.IsSecretKey(key), redact.SecretField("", value) != "":
		return nil, yamlfile.Wrong(key, "a secret has no place in this file: keys of servers are read from OPENAI_API_KEY, passwords of Postgres from PGPASSWORD or ~/.pgpass")
	case !known:
		return nil, yamlfile.Wrong(key, "%s", english.Unknown("key", key, configKeys))
	}
	switch v := value.(type) {
	case []any:
		if key == "base-url" {
			var all []string
			for _, one := range v {
				all = append(all, fmt.Sprint(one))
			}
			return all, nil
		}
	case map[string]any:
		if key == "prices" {
			table, err := json.Marshal(v)
			return []string{string(table)}, err
		}
	case nil:
	default:
		text := fmt.Sprint(v)
		if isPath := key == "prices" || key == "cache" && !cache.IsPostgres(text) && cache.CheckName(text) == nil; isPath && !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		return []string{text}, nil
	}
	return nil, yamlfile.Wrong(key, "takes one value, not a list, a table or none")
}
