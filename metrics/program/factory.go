package program

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Name is the name of the factory, and the part before the colon in the names of its
// metrics.
const Name = "exec"

// The options, written before the program.
var options = []metrics.Option{
	{Key: "processes", Default: "half the cores, 4 at most", Values: "1–256", Doc: "processes at a time"},
	{Key: "timeout", Default: "10m; 10s to begin", Values: "DURATION", Doc: "time for the hello line, and for a batch"},
	{Key: "name", Default: "the name in its hello line", Values: "NAME", Doc: "the name of the metric, after exec:"},
	{Key: "pass", Values: "NAME,…", Doc: "variables that it gets though their names sound secret"},
}

// mostProcesses bounds the option processes; defaultProcesses is its default. Both are
// small because each process may hold a model.
const (
	mostProcesses    = 256
	defaultProcesses = 4
)

// Factory makes metrics from specs such as "exec:processes=2 python3 my_metric.py": options
// as KEY=VALUE, then the program and its arguments, split and quoted as in a shell, without
// its other rules. A program gets environ without what withhold removes; log and failed are of config.
func Factory(environ []string, log func(line string), failed func(why error) bool) metrics.Factory {
	return metrics.Factory{
		Name: Name, Tail: "[OPTION=VALUE …] PROGRAM [ARG …]", Options: options,
		Summary: "a program of yours, over standard input and output", Runs: "a program",
		New: func(ctx context.Context, v *metrics.Values) (metrics.Metric, error) {
			cfg, pass, err := parse(v)
			if err != nil {
				return nil, v.Wrong(err)
			}
			cfg.Environ, cfg.Secrets = withhold(environ, pass...)
			_, given := redact.Secrets(cfg.Command)
			cfg.Secrets = append(cfg.Secrets, long(given)...)
			cfg.Log, cfg.Failed = log, failed
			m, err := newMetric(ctx, cfg)
			if e := (*exec.Error)(nil); errors.As(err, &e) { // the program does not exist
				return nil, v.Wrong(e.Err)
			}
			if err != nil {
				return nil, err
			}
			return m, nil
		},
	}
}

var optionForm = text.Regexp(`^([a-z-]+)=(.*)$`)

// parse reads the text after the colon.
func parse(v *metrics.Values) (cfg config, pass []string, err error) {
	argv, err := shellquote.Split(v.Tail())
	if err != nil {
		return cfg, nil, fmt.Errorf("as a shell reads it: %w", err)
	}
	for ; len(argv) > 0; argv = argv[1:] {
		option := optionForm().FindStringSubmatch(argv[0])
		if option == nil {
			break
		}
		if key, value := option[1], option[2]; key == "pass" {
			pass = append(pass, strings.Split(value, ",")...)
		} else if err := v.Set(key, value, options); err != nil {
			return cfg, nil, err
		}
	}
	cfg = config{Timeout: defaultTimeout, Start: patience, Name: v.String("name", "")}
	cfg.Processes = v.Int("processes", min(max(1, runtime.GOMAXPROCS(0)/2), defaultProcesses), 1, mostProcesses)
	if text := v.String("timeout", ""); v.Has("timeout") {
		if cfg.Timeout, err = time.ParseDuration(text); err != nil || cfg.Timeout <= 0 {
			return cfg, nil, fmt.Errorf("option timeout=%q: want a duration, such as 90s or 10m", text)
		}
		cfg.Start = 0
	}
	if v.Has("name") && !nameForm().MatchString(cfg.Name) {
		return cfg, nil, fmt.Errorf("option name=%q: want up to 80 letters, digits and .,:=+/_-", cfg.Name)
	}
	if err := v.Err(); err != nil {
		return cfg, nil, err
	}
	if len(argv) == 0 || argv[0] == "" {
		return cfg, nil, errors.New("no program is named: write exec:PROGRAM, such as -m 'exec:python3 my_metric.py'")
	}
	cfg.Command = argv
	return cfg, pass, nil
}
