package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
)

// ranking orders the systems under each setting, starting with the first one's order. It returns
// nothing if there is nothing to order.
func (h *Held) ranking() (settings []string, systems []experiment.RankedSystem) {
	if len(h.settings) == 0 || len(h.names) < 2 {
		return nil, nil
	}
	for _, name := range h.names {
		systems = append(systems, experiment.RankedSystem{Name: name})
	}
	scores := h.systems.Scores()
	for k, set := range h.settings {
		taken := "mean of segments"
		if slices.ContainsFunc(scores, func(s refract.SystemScore) bool { return s.Setting == k && s.Pooled }) {
			taken = "corpus"
		}
		settings = append(settings, report.Display(set.String())+", "+taken)
		places := make([]experiment.Place, len(h.names))
		for i := range places {
			places[i].Score = experiment.None()
		}
		for _, s := range scores {
			if s.Setting == k && s.OK {
				places[h.index[s.System]] = experiment.Place{Score: experiment.Number(s.Value), Cells: s.Segments}
			}
		}
		experiment.RankPlaces(places, float64(set.Metric.Info().Direction))
		for i, p := range places {
			if k == 0 {
				systems[i].First = p
			} else {
				systems[i].Under = append(systems[i].Under, p)
			}
		}
	}
	slices.SortStableFunc(systems, func(a, b experiment.RankedSystem) int { return a.First.Before(b.First) })
	return settings, systems
}

// claim says, if there are no human scores, which system is first under the most
// settings, and what that rests on. chosen is what the caller left out, "" for nothing.
func (h *Held) claim(chosen string) (text string, evidence []string) {
	evidence = []string{"People judged none of the outputs, so no setting can be shown to be better.",
		fmt.Sprintf("The scores are of %s by %s.", english.Thousands(h.added.segments, "segment"), english.Count(len(h.names), "system"))}
	settings, systems := h.ranking()
	if settings == nil {
		return "There is nothing to compare", evidence
	}
	name, most := "", 0
	for _, s := range systems {
		first := 0
		for _, p := range append([]experiment.Place{s.First}, s.Under...) {
			if p.Rank == 1 {
				first++
			}
		}
		if first > most {
			name, most = s.Name, first
		}
	}
	text = "No system is first under any setting"
	if most > 0 {
		text = fmt.Sprintf("%s is first under %d of %d settings", name, most, len(settings))
	}
	if chosen != "" {
		text += ", on a subset"
		evidence[1] = strings.TrimSuffix(evidence[1], ".") + "; " + chosen + "."
	}
	return text, evidence
}

// scoreTable returns the score of every system under every setting.
func (h *Held) scoreTable() *report.NamedTable {
	t := &report.NamedTable{Name: "systems",
		Title: "Scores of systems",
		Columns: []report.Column{
			{Name: "system"},
			{Name: "metric"},
			{Name: "aggregate"},
			{Name: "references", Header: "refs", Kind: report.KindInt},
			{Name: "score", Kind: report.KindFloat, Digits: 4},
			{Name: "method"},
			{Name: "better", Hide: true},
			{Name: "segments", Kind: report.KindInt, Secondary: true},
			{Name: "missing", Kind: report.KindInt},
			{Name: "missing_references", Header: "missing refs", Kind: report.KindInt, Secondary: true},
			{Name: "signature", Hide: true},
		},
		Notes: []string{"method: corpus pools the statistics of all segments, as the metric's paper defines it; average is the mean over segments"},
	}
	scores := h.systems.Scores()
	there, all := 0, 0
	for i := range scores {
		s := &scores[i]
		set := h.settings[s.Setting]
		info := set.Metric.Info()
		score, method := report.Null(), "average"
		if s.OK {
			score = report.Float(s.Value)
		}
		if s.Pooled {
			method = "corpus"
		}
		there += s.Segments
		all += s.Segments + s.Missing
		if info.Direction == metrics.LowerIsBetter {
			t.Note("%s: lower is better", info.Name)
		}
		t.Add(s.System, info.Name, report.StringOrNull(set.AggregatorName()), s.MaxReferences, score, method, info.Direction.String(), s.Segments, s.Missing, s.MissingReferences,
			h.systems.Signature(s).String())
	}
	t.Coverage = fmt.Sprintf("%d of %s", there, english.Count(all, "score of a segment", "scores of segments"))
	return t
}
