package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/judge/audit"
)

// feedbackFlag names feedback that the table of trust has too.
type feedbackFlag struct{ feedback string }

func (f *feedbackFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.feedback, "feedback", "", "`FILE` that 'refract feedback --verdicts' wrote about the reports of this run, for the table of trust")
}

// read reads the feedback, if there is some.
func (f *feedbackFlag) read(ctx context.Context, e *env) (*audit.FeedbackFile, error) {
	if f.feedback == "" {
		return nil, nil
	}
	name, in, err := e.openAnswers(ctx, f.feedback)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return audit.NewFeedbackFile(name, in)
}

// tell warns of feedback on reports that a run does not have.
func (f *feedbackFlag) tell(e *env, g *audit.Reports) {
	if g == nil {
		return
	}
	if left := g.Feedback.Left(); len(left) > 0 {
		e.warn("--feedback %s: %s of no report of this run: the first is %s by %s", f.feedback, english.Count(len(left), "row"), left[0], left[0].Metric)
	}
}
