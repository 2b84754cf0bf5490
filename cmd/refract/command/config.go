package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/internal/yamlfile"
)

const configHelp = `
Flags about models, servers and budgets may also stand in refract.yaml in the
working directory, or in the file that --config names. A key is a flag's name
without the dashes; paths start from the file's folder:

  base-url: [http://a:8000/v1, http://b:8000/v1]
  model: gpt-4o-mini
  judge-model: gpt-4o
  cache: postgres://refract@db.example.org/answers
  prices:
    gpt-4o-mini: {input: 0.15, output: 0.60}
  max-cost: 25

They may stand in the environment too: REFRACT_BASE_URL, REFRACT_MODEL,
REFRACT_MAX_COST and so on. A flag wins over the environment, the environment
over the file, and the file over the default. Standard error names the file and
what is taken from it.

A secret in the file is an error: keys of servers belong into OPENAI_API_KEY,
passwords of Postgres into PGPASSWORD or ~/.pgpass.

Keys: base-url, concurrency, rpm, tpm, timeout, retries, max-wait, wait, model,
judge-model, embeddings, cache, prices, max-cost, max-calls, max-time.`

// configFile is looked for in the working directory, and nowhere else: one
// beside data could send a key to a server of its author's choice.
const configFile = "refract.yaml"

// configKeys are the flags that a configuration file or the environment may
// state.
var configKeys = []string{
	"base-url", "concurrency", "rpm", "tpm", "timeout", "retries", "max-wait", "wait",
	"model", "judge-model", "embeddings", "cache", "prices", "max-cost", "max-calls", "max-time",
}

const environmentPrefix = "REFRACT_"

// environmentName is the variable that stands for a flag.
func environmentName(key string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// isConfigured reports whether a flag may be stated by a configuration file. A
// flag of the same name with another meaning, such as a filter, may not.
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
	file, err := readConfig(e.configPath)
	if err != nil {
		return err
	}
	var used []string
	for _, f := range open {
		if f.Changed {
			continue
		}
		name := environmentName(f.Name)
		values, fromFile := file.values[f.Name]
		switch v := e.getenv(name); {
		case v != "" && f.Value.Type() == "stringArray":
			for _, one := range strings.Fields(strings.ReplaceAll(v, ",", " ")) {
				err = errors.Join(err, f.Value.Set(one))
			}
		case v != "":
			err = f.Value.Set(v)
		case fromFile && f.Name == "base-url" && e.getenv("OPENAI_BASE_URL") != "":
			e.note("%s: base-url is not used, as OPENAI_BASE_URL is set", file.path)
			continue
		case fromFile:
			name = ""
			for _, one := range values {
				err = errors.Join(err, f.Value.Set(one))
			}
			used = append(used, f.Name)
		}
		if number := (*strconv.NumError)(nil); errors.As(err, &number) {
			err = fmt.Errorf("%q is no number that fits", number.Num)
		}
		switch {
		case err != nil && name == "":
			return usagef("%w", file.At(yamlfile.Wrong(f.Name, "%w", err)))
		case err != nil:
			return usagef("%s: %w", name, err)
		}
	}
	if len(used) > 0 {
		fmt.Fprintf(e.stderr, "configuration: %s (%s)\n", visibleLines(file.path), strings.Join(used, ", "))
	}
	return nil
}

// checkEnvironment warns of variables that are probably misspelt.
func (e *env) checkEnvironment() {
	for _, variable := range e.environ {
		name, _, _ := strings.Cut(variable, "=")
		word, ours := strings.CutPrefix(name, environmentPrefix)
		key := strings.ToLower(strings.ReplaceAll(word, "_", "-"))
		if !ours || slices.Contains(configKeys, key) {
			continue
		}
		if near := suggest.Nearest(key, configKeys); near != "" {
			e.warn("the environment variable %s means nothing; did you mean %s?", name, environmentName(near))
		}
	}
}

// config is what a configuration file states.
type config struct {
	*yamlfile.File
	path   string
	values map[string][]string // by flag
}

// readConfig reads a configuration file: that of the working directory where
// path is "", which may be missing.
func readConfig(path string) (*config, error) {
	named := path != ""
	if !named {
		path = configFile
	}
	in, err := os.Open(path)
	if !named && errors.Is(err, fs.ErrNotExist) {
		return &config{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := &config{path: path, values: map[string][]string{}}
	if c.File, err = yamlfile.Read(path, in); err != nil {
		return nil, usagef("%w", err)
	}
	var raw map[string]any
	if err := c.Decode(&raw, "state flags about models, servers and budgets"); err != nil {
		return nil, usagef("%w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if c.values[key], err = configValues(filepath.Dir(path), key, raw[key]); err != nil {
			return nil, usagef("%w", c.At(err))
		}
	}
	return c, nil
}

// secretKey is what a key that holds a secret is called.
var secretKey = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)

const secretHelp = "a secret has no place in this file: keys of servers are read from OPENAI_API_KEY, passwords of Postgres from PGPASSWORD or ~/.pgpass"

// configValues are the values of a key, as its flag takes them. No message
// holds a value.
func configValues(dir, key string, value any) ([]string, error) {
	switch {
	case slices.Contains(configKeys, key):
	case secretKey.MatchString(key):
		return nil, yamlfile.Wrong(key, secretHelp)
	default:
		return nil, yamlfile.Wrong(key, "%s", suggest.Unknown("key", key, configKeys))
	}
	var values []string
	switch v := value.(type) {
	case nil:
		return nil, yamlfile.Wrong(key, "has no value")
	case []any:
		if key != "base-url" {
			return nil, yamlfile.Wrong(key, "takes one value, not a list")
		}
		for _, one := range v {
			values = append(values, fmt.Sprint(one))
		}
	case map[string]any:
		if key != "prices" {
			return nil, yamlfile.Wrong(key, "takes one value, not a table")
		}
		table, err := json.Marshal(v)
		if err != nil {
			return nil, yamlfile.Wrong(key, "%w", err)
		}
		return []string{string(table)}, nil
	default:
		values = []string{fmt.Sprint(v)}
	}
	for i, v := range values {
		if holdsSecret(v) {
			return nil, yamlfile.Wrong(key, secretHelp)
		}
		if isPath := key == "prices" || key == "cache" && !cache.IsPostgres(v); isPath && !filepath.IsAbs(v) {
			values[i] = filepath.Join(dir, v)
		}
	}
	return values, nil
}

// holdsSecret reports whether a value is an address with a password, or looks
// like a key.
func holdsSecret(v string) bool {
	if strings.HasPrefix(v, "sk-") || strings.Contains(v, "password=") {
		return true
	}
	u, err := url.Parse(v)
	if err != nil || u.User == nil {
		return false
	}
	_, has := u.User.Password()
	return has
}
