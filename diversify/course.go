package diversify

import "math"

// purpose is what a request is for.
type purpose uint8

const (
	first    purpose = iota // a first answer
	again                   // another one, in place of a rejected one or more of them
	question                // to the judge
	purposes
)

func (a *asked) purpose(c *cell) purpose {
	switch {
	case a.about >= 0:
		return question
	case a.room > 0 || a.sample >= c.wanted:
		return again
	}
	return first
}

// course counts what followed from requests whose answers are settled, so as to
// tell what will follow from others.
type course struct {
	open, settled [purposes]int
	followed      [purposes][purposes]int // by what they followed from

	segments, accepted int // of segments that nothing more is asked for
	wanted             int // variants of the others

	mostAnswers, mostQuestions Load // of the others, where the tally foresees
	mostOfOne                  Load
}

// settle counts the i-th request of a job, and those from a place on, which
// followed from it.
func (c *course) settle(j *job, i, from int) {
	p := j.asks[i].purpose(&j.cells[j.asks[i].cell])
	c.open[p]--
	c.settled[p]++
	c.follow(j, i, from)
}

func (c *course) follow(j *job, i, from int) {
	p := j.asks[i].purpose(&j.cells[j.asks[i].cell])
	for k := from; k < len(j.asks); k++ {
		q := j.asks[k].purpose(&j.cells[j.asks[k].cell])
		c.open[q]++
		c.followed[p][q]++
	}
}

func (c *course) add(d *course) {
	for i := range purposes {
		c.open[i] += d.open[i]
		c.settled[i] += d.settled[i]
		for k := range purposes {
			c.followed[i][k] += d.followed[i][k]
		}
	}
	c.segments += d.segments
	c.accepted += d.accepted
	c.wanted += d.wanted
	c.mostAnswers, c.mostQuestions = c.mostAnswers.Plus(d.mostAnswers, 1), c.mostQuestions.Plus(d.mostQuestions, 1)
	if d.mostOfOne.PromptTokens > c.mostOfOne.PromptTokens {
		c.mostOfOne = d.mostOfOne
	}
}

// most bounds what a job asks for, by its first round, and what one answer takes.
func (j *job) most() (answers, questions, longest Load) {
	cfg := &j.x.cfg
	rooms := 0
	for room := range cfg.Enlarge + 1 {
		rooms += j.x.room(room)
	}
	times, further := 1, 0
	if cfg.Temperature > 0 {
		further = max(0, cfg.Complete-j.accepted()) * (cfg.Rounds - j.rounds)
	}
	if cfg.Temperature > 0 && j.rounds == 0 {
		times += cfg.Resample
	}
	for i, q := range j.round {
		each := Load{1 + cfg.Enlarge, q.Wire.PromptTokens() * (1 + cfg.Enlarge), rooms}
		if q.Other != nil {
			each.PromptTokens = max(each.PromptTokens, q.Other.Wire.PromptTokens()*(1+cfg.Enlarge))
		}
		answers = answers.Plus(each, float64(times))
		if each.PromptTokens > longest.PromptTokens {
			longest = each
		}
		if j.x.judge == nil || j.x.judge.From > 1 {
			continue
		}
		n := times
		if i == len(j.round)-1 {
			n += further
		}
		reference := j.seg.References[j.cells[j.asks[i].cell].reference].Value
		prompt := j.x.judge.question(reference, "").Wire.PromptTokens() + j.x.room(cfg.Enlarge)
		questions = questions.Plus(Load{1, prompt, j.x.judge.MaxTokens}, float64(n))
	}
	return answers.Plus(longest, float64(further)), questions, longest
}

// Where too few answers are known, these are the shares of them that are taken
// to be rejected, and to be doubtful.
const (
	rejectedShare = 0.2
	doubtfulShare = 0.1
)

// fewest is how many answers a measured share is of.
const fewest = 20

// expected returns how many requests will follow from those that are open, and
// whether that goes by answers of the run.
func (c *course) expected(cfg *Config) (more [purposes]float64, measured bool) {
	var rate [purposes][purposes]float64
	asks := cfg.Check != nil && cfg.Temperature > 0 && cfg.Resample > 0
	for i := range purposes {
		known := c.settled[i] >= fewest
		for k := range purposes {
			switch {
			case known:
				rate[i][k] = float64(c.followed[i][k]) / float64(c.settled[i])
			case i == again && (k != again || cfg.Resample > 1 || cfg.Complete > 0):
				rate[i][k] = rate[first][k]
			case i == first && k == again && asks:
				rate[i][k] = rejectedShare
			case i == first && k == question && cfg.Equivalence != nil && cfg.Equivalence.From == 0:
				rate[i][k] = 1 - rejectedShare
			case i == first && k == question && cfg.Equivalence != nil && cfg.Equivalence.From <= 1:
				rate[i][k] = doubtfulShare
			}
		}
	}
	var now [purposes]float64
	for i, n := range c.open {
		now[i] = float64(n)
	}
	// An answer and a question about it are two rounds.
	for range 2 * (1 + cfg.Resample + cfg.Enlarge + cfg.Rounds) {
		var next [purposes]float64
		for i := range purposes {
			for k := range purposes {
				next[k] += now[i] * rate[i][k]
			}
		}
		for k, n := range next {
			more[k] += n
		}
		now = next
	}
	return more, c.settled[first] >= fewest
}

// foresee completes an Outlook, of whose needed requests some are questions, by
// what will follow from them.
func (c *course) foresee(cfg *Config, o *Outlook, questions Load) {
	more, measured := c.expected(cfg)
	o.FollowMeasured = measured
	if o.Done = c.segments; o.Done > 0 {
		o.Accepted = float64(c.accepted) / float64(o.Done)
	}
	o.Questions = questions
	o.Answers = Load{o.Needed, o.PromptTokens, o.CompletionTokens}.Plus(questions, -1)
	o.MostAnswers, o.MostQuestions, o.MostOfOne = c.mostAnswers, c.mostQuestions, c.mostOfOne
	absent := o.Needed + o.Equal
	if absent == 0 {
		return
	}
	if !measured && cfg.Complete > 0 {
		// As many more as give each segment its number.
		total, open := float64(c.wanted)/(1-rejectedShare), float64(c.open[first]+c.open[again])
		if further := total - open; further > more[again] {
			if cfg.Equivalence != nil && open > 0 {
				more[question] *= 1 + (further-more[again])/(open+more[again])
			}
			more[again] = further
		}
	}
	share := float64(o.Needed) / float64(absent) // as equal requests share what follows
	o.Again, o.Judged = int(math.Round(more[again]*share)), int(math.Round(more[question]*share))
	if n := float64(o.Answers.Calls); n > 0 {
		o.Answers = o.Answers.Plus(o.Answers, float64(o.Again)/n)
	}
	switch n := float64(o.Questions.Calls); {
	case o.Judged == 0:
	case n > 0:
		o.Questions = o.Questions.Plus(o.Questions, float64(o.Judged)/n)
	case o.Answers.Calls > 0:
		// A question has two texts, and some words around them.
		prompt := 2*o.Answers.CompletionTokens/o.Answers.Calls + len(Equivalence{}.prompt("", ""))/4
		o.Questions = Load{o.Judged, o.Judged * prompt, o.Judged}
	}
}
