// Package evidence turns scores and the result of an experiment into a report:
// findings, tables, figures, rankings, and an explorer of the segments.
//
//  1. A [Held] takes in the scores of a dataset as an engine gives them.
//  2. Package experiment compares settings with people; its Result is plain data.
//  3. [Report] brings both together: [Report.Document] is the page for package
//     internal/page, [Report.Tables] and [Report.Figures] are what it shows, for
//     files of their own.
//
// A Held keeps texts and scores in memory, as rank statistics need all scores
// anyway; what the explorer shows beside them (reports of judges, which
// reference decided) is made segment by segment when the page is
// written.
package evidence
