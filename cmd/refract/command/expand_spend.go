package command

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/llm/budget"
)

// spendFlags bound what a run may spend.
type spendFlags struct {
	prices   string
	maxCost  float64
	maxCalls int
	maxTime  time.Duration
}

func (s *spendFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.prices, "prices", "", "YAML or JSON `FILE` with the prices of a million tokens by model, or such a table in braces")
	f.Float64Var(&s.maxCost, "max-cost", 0, "stop before the calls of this run cost more, in the currency of --prices")
	f.IntVar(&s.maxCalls, "max-calls", 0, "stop after so many calls")
	f.DurationVar(&s.maxTime, "max-time", 0, "begin no call after this time, such as 8h")
	grouped(cmd, budgetFlags, "prices", "max-cost")
}

func (s *spendFlags) limits() budget.Limits {
	return budget.Limits{Calls: s.maxCalls, Cost: s.maxCost, Time: s.maxTime}
}

// readPrices reads the table, if there is one, which must have the models
// where the cost is bounded.
func (s *spendFlags) readPrices(models ...string) (budget.Prices, error) {
	if s.maxCost < 0 || s.maxCalls < 0 || s.maxTime < 0 {
		return nil, usagef("--max-cost, --max-calls and --max-time must not be negative")
	}
	if s.prices == "" {
		if s.maxCost > 0 {
			return nil, usagef("--max-cost needs --prices: a file with the prices of the models")
		}
		return nil, nil
	}
	name, in := "--prices", io.Reader(strings.NewReader(s.prices))
	if !strings.HasPrefix(s.prices, "{") {
		file, err := os.Open(s.prices)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		name, in = s.prices, file
	}
	prices, err := budget.ReadPrices(name, in)
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		if _, err := prices.For(m); err != nil {
			return nil, usagef("%s: %w", name, err)
		}
	}
	return prices, nil
}
