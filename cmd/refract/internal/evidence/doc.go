// Package evidence turns scores and the result of an experiment into a report: findings,
// tables, figures, rankings, and an explorer of the segments.
//
//  1. A [Held] collects the scores of a dataset from an engine.
//  2. Package experiment compares settings with people; its Result is plain data.
//  3. [Report] combines both: [Report.Document] is the page for package page;
//     [Report.Tables] and [Report.Figures] are its content, to be written to files.
//
// A Held keeps texts and scores in memory, because rank statistics need all scores anyway.
// The rest of what the explorer shows (reports of judges, which reference decided) is
// computed segment by segment while the page is written.
package evidence
