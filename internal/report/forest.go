package report

// Forest compares settings with a baseline: a plot of intervals on one scale.
type Forest struct {
	Title string
	Value string // names the statistic, such as "Kendall’s τ"
	Unit  string // of the axis, such as "difference in Kendall’s τ with mqm"
	// Views are the groupings under which each difference is shown, such as
	// "flattened" and "by segment"; a single one may be "".
	Views  []string
	Level  float64 // of the intervals, such as 0.95
	Groups []ForestGroup
	Notes  []string
}

// ForestGroup is the settings that share a baseline.
type ForestGroup struct {
	Name    string // such as "BLEU"
	Against string // what they are compared with, and its values
	Rows    []ForestRow
}

// ForestRow is one setting.
type ForestRow struct {
	Name    string
	Effects []Effect // one per view
}

// Effect is a difference with its interval.
type Effect struct {
	Value      Number // of the setting
	Difference Number
	Range      *Range // nil for none
	P          Number // undefined for none
	Outcome    Outcome
}
