package report

// Forest compares settings with a baseline: a plot of intervals on one scale.
type Forest struct {
	Title string
	Value string  // names the statistic, such as "Kendall’s τ"
	Unit  string  // of the axis, such as "difference in Kendall’s τ with mqm"
	Level float64 // of the intervals, such as 0.95
	Rows  []ForestRow
	Notes []string
}

// ForestRow is one setting under one grouping. Rows of a setting follow each other.
type ForestRow struct {
	Setting    string // such as "BLEU max"
	Grouping   string // such as "by segment"; "" where there is only one
	Value      Number // of the setting
	Difference Number
	Range      *Range // nil for none
	P          Number // undefined for none
	Outcome    Outcome
}
