package program

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/refract-eval/refract/internal/english"
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
			cfg, pass, err := parse(v.Tail())
			if err != nil {
				return nil, v.Wrong(err)
			}
			cfg.Environ, cfg.Secrets = withhold(environ, pass...)
			_, given := redact.Secrets(cfg.Command)
			cfg.Secrets = append(cfg.Secrets, long(given)...)
			cfg.Log, cfg.Failed = log, failed
			m, err := newMetric(ctx, cfg)
			if e := (*exec.Error)(nil); errors.As(err, &e) { // the program does not exist
				return nil, v.Wrong(fmt.Errorf("program %q: %w", e.Name, e.Err))
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
func parse(tail string) (cfg config, pass []string, err error) {
	cfg = config{Processes: min(max(1, runtime.GOMAXPROCS(0)/2), defaultProcesses), Timeout: defaultTimeout, Start: patience}
	argv, err := words(tail)
	if err != nil {
		return cfg, nil, err
	}
	for ; len(argv) > 0; argv = argv[1:] {
		option := optionForm().FindStringSubmatch(argv[0])
		if option == nil {
			break
		}
		switch key, value := option[1], option[2]; key {
		case "processes":
			if cfg.Processes, err = strconv.Atoi(value); err != nil || cfg.Processes < 1 || cfg.Processes > mostProcesses {
				return cfg, nil, fmt.Errorf("option %s=%q: want a whole number from 1 to %d", key, value, mostProcesses)
			}
		case "timeout":
			if cfg.Timeout, err = time.ParseDuration(value); err != nil || cfg.Timeout <= 0 {
				return cfg, nil, fmt.Errorf("option %s=%q: want a duration, such as 90s or 10m", key, value)
			}
			cfg.Start = 0
		case "name":
			if cfg.Name = value; !nameForm().MatchString(value) {
				return cfg, nil, fmt.Errorf("option %s=%q: want up to 80 letters, digits and .,:=+/_-", key, value)
			}
		case "pass":
			pass = append(pass, strings.Split(value, ",")...)
		default:
			return cfg, nil, errors.New(english.Unknown("option", key, []string{"processes", "timeout", "name", "pass"}))
		}
	}
	if len(argv) == 0 || argv[0] == "" {
		return cfg, nil, errors.New("no program is named: write exec:PROGRAM, such as -m 'exec:python3 my_metric.py'")
	}
	cfg.Command = argv
	return cfg, pass, nil
}
