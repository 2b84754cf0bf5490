package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/alarm"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// watcher shows how far an expansion is.
type watcher struct {
	p        *report.Progress
	segments int // of the dataset; 0 where that is not known
	spend    *ask.Budget
	last     diversify.Progress
	wanted   int // variants, as far as is known
}

// observe shows what is new in a snapshot.
func (w *watcher) observe(now diversify.Progress) {
	p, last := w.p, &w.last
	if w.segments > 0 && now.Begun > 0 { // once more for each that an audit took from
		w.wanted = now.Wanted + max(0, w.segments-now.Begun)*now.Wanted/now.Begun
		p.Total(w.wanted)
	}
	fresh := now.AcceptedByCalls - last.AcceptedByCalls
	p.Add(fresh)
	p.Skip(now.Accepted - last.Accepted - fresh)
	p.Count("answers", now.Calls+now.Cached-last.Calls-last.Cached)
	p.Count("from cache", now.Cached-last.Cached)
	p.Count("failed", now.Failed-last.Failed)
	p.Count("at the token limit", now.Cut-last.Cut) // not all of which the verdict calls cut
	p.Count("without text", now.NoText-last.NoText)
	p.Count("asked again", now.Resampled+now.Enlarged-last.Resampled-last.Enlarged)
	p.Count("tokens", now.PromptTokens+now.CompletionTokens-last.PromptTokens-last.CompletionTokens)
	showCost(p, w.spend)
	*last = now
}

// findings are what a run has found.
type findings struct {
	diversify.Summary
	// Of the whole set, with what earlier runs found, unlike the Summary:
	variants, rejected int
	verdicts           map[string]int // of rejected answers

	full      int            // rejected answers that the token limit cut
	reasoning int            // rejected answers that the server put into its field for reasoning
	blank     int            // variants without a text
	asText    int            // answers in plain text
	form      string         // of the answers; "" where the user chose it
	alarms    map[string]int // about accepted ones, by kind
	yields    *selection.Yields
	checked   publish.Checked
}

func (f *findings) add(s *refract.Segment) {
	f.yields.Add(s.ID, selection.Usable(s))
	f.checked.Add(s)
	f.variants, f.rejected = f.variants+len(s.Variants), f.rejected+len(s.Rejected)
	for _, v := range s.Rejected {
		f.verdicts[v.Verdict]++
		if v.Verdict == check.ReasonCut && v.Finish == llm.FinishLength {
			f.full++
		}
		if v.Finish == llm.FinishReasoning {
			f.reasoning++
		}
	}
	for _, v := range slices.Concat(s.Variants, s.Rejected) {
		if v.Origin != nil && v.Origin.Form == "" && v.Verdict != diversify.Failed {
			f.asText++
		}
	}
	for _, v := range s.Variants {
		if strings.TrimSpace(v.Text.Value) == "" {
			f.blank++
		}
		for _, a := range v.Alarms {
			f.alarms[alarm.Kind(a)]++
		}
	}
}

// nameForm says in what form the answers are, where the run found that out.
func (f *findings) nameForm(noJSON bool) {
	f.form = "JSON by a schema"
	switch all := f.Variants + f.Rejected - f.Unanswered; {
	case f.asText > 0 && noJSON:
		f.form = fmt.Sprintf("%d of %d as plain text, because the server gives no JSON", f.asText, all)
	case f.asText > 0:
		f.form = fmt.Sprintf("%d of %d as plain text, from the cache; --form json asks for others", f.asText, all)
	}
}

// counted shows counts by name.
func counted(counts map[string]int) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[name], name))
	}
	return strings.Join(out, ", ")
}

// noteCoverage ends the report of a run: how many of the wanted variants exist.
func (f *findings) noteCoverage(e *env, checked bool, complete int) {
	say, have, wanted, of, none := e.note, f.Variants, f.Variants+f.Lacking, "", ""
	if !checked {
		have -= f.blank
	}
	if complete > 0 {
		wanted, of = complete*f.Segments, fmt.Sprintf(" that --complete %d asks for", complete)
		have = wanted - f.yields.Lack(complete)
	}
	if empty, named := f.yields.Below(1); empty > 0 {
		none = fmt.Sprintf("; %s without any: %s", english.Thousands(empty, "segment"), strings.ReplaceAll(named, " (0)", ""))
	}
	if have < wanted || none != "" {
		say = e.warn
	}
	say("%s of %s%s%s", humanize.Comma(int64(have)), english.Thousands(wanted, "variant"), of, none)
}

// noteAll reports what a run did; checked is false with --checks none.
func (f *findings) noteAll(e *env, checked bool) {
	judged := ""
	if f.Judged > 0 {
		judged = fmt.Sprintf(" (%d of the judge)", f.Judged)
	}
	variants, rejected := english.Count(f.Variants, "variant"), "rejected"
	if f.variants > f.Variants || f.rejected > f.Rejected {
		variants, rejected = fmt.Sprintf("%s, %d in all", english.Count(f.Variants, "new variant"), f.variants), "rejected, with earlier runs"
	}
	e.note("%s, %s, %s; %s%s: %d by calls, %d from the cache; tokens: %d of prompts, %d of completions", english.Count(f.Segments, "segment"), english.Count(f.References, "reference"),
		variants, english.Count(f.Calls+f.Cached, "answer"), judged, f.Calls, f.Cached, f.PromptTokens, f.CompletionTokens)
	if f.form != "" {
		e.note("form of the answers: %s", f.form)
	}
	if y := f.yields.String(); y != "" {
		e.note("accepted variants of a segment: %s", y)
	}
	if f.Rejected > 0 {
		room := ""
		if f.Enlarged > 0 {
			room = fmt.Sprintf(", %d with twice --max-tokens", f.Enlarged)
		}
		e.note("%s: %s; asked again: %d%s", rejected, counted(f.verdicts), f.Resampled+f.Enlarged, room)
	}
	if len(f.alarms) > 0 {
		e.note("alarms about accepted variants: %s; 'refract review' shows them first", counted(f.alarms))
	}
	if f.checked.Any() {
		e.note("%s", &f.checked)
	}
	if !checked { // the verdicts say it
		e.warnOf(f.Cut, "answers cut by --max-tokens, kept and marked with the finish reason \"length\"")
		e.warnOf(f.NoText, "answers without text, empty or withheld by the server")
	}
	e.warnOf(f.Textless, "references without text, which are not expanded")
}
