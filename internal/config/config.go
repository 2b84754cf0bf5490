// Package config reads refract.yaml, which states flags about models, servers
// and budgets.
package config

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
	"strings"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// Name is the file that is looked for in the working directory, and nowhere
// else: one beside data could send a key to a server of its author's choice.
const Name = "refract.yaml"

// Keys are the flags that a configuration file or the environment may state.
var Keys = []string{
	"base-url", "concurrency", "timeout", "retries", "max-wait", "wait",
	"model", "form", "judge-model", "embeddings", "embeddings-url", "cache", "prices", "max-cost", "max-calls", "max-time",
}

// File is what a configuration file states.
type File struct {
	*yamlfile.File
	Path   string
	Values map[string][]string // by key, as the flag of that name takes them
}

// Read reads a configuration file: that of the working directory where path is
// "", which may be missing. An error says the file and the line, and repeats no
// value.
func Read(path string) (*File, error) {
	named := path != ""
	if !named {
		path = Name
	}
	in, err := os.Open(path)
	if !named && errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := &File{Path: path, Values: map[string][]string{}}
	if c.File, err = yamlfile.Read(path, in); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	var raw map[string]any
	if err := c.Decode(&raw, "state flags about models, servers and budgets"); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if c.Values[key], err = valuesOf(filepath.Dir(path), key, raw[key]); err != nil {
			return nil, fmt.Errorf("%w", c.At(err))
		}
	}
	return c, nil
}

// secretKey is what a key that holds a secret is called.
var secretKey = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)

const secretHelp = "a secret has no place in this file: keys of servers are read from OPENAI_API_KEY, passwords of Postgres from PGPASSWORD or ~/.pgpass"

// valuesOf are the values of a key, as its flag takes them. No message
// holds a value.
func valuesOf(dir, key string, value any) ([]string, error) {
	switch {
	case slices.Contains(Keys, key):
	case secretKey.MatchString(key):
		return nil, yamlfile.Wrong(key, secretHelp)
	default:
		return nil, yamlfile.Wrong(key, "%s", english.Unknown("key", key, Keys))
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
		if isPath := key == "prices" || key == "cache" && !cache.IsPostgres(v) && cache.CheckName(v) == nil; isPath && !filepath.IsAbs(v) {
			values[i] = filepath.Join(dir, v)
		}
	}
	return values, nil
}

// SecretField names a field of fields, or of objects in them, that holds a
// secret by its name or its value; "" where none does. What is no text, such as
// the number of max_thinking_tokens, holds none.
func SecretField(fields map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if found := secretIn(name, fields[name], secretKey.MatchString(name)); found != "" {
			return found
		}
	}
	return ""
}

// secretIn is SecretField of one value; named tells that its name is a secret's.
func secretIn(name string, value any, named bool) string {
	switch v := value.(type) {
	case string:
		if named || holdsSecret(v) {
			return name
		}
	case []any:
		for _, one := range v {
			if found := secretIn(name, one, named); found != "" {
				return found
			}
		}
	case map[string]any:
		return SecretField(v)
	}
	return ""
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
