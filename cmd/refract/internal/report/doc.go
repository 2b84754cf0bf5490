// Package report shows rows and progress.
//
// A table is a list of columns and a stream of rows; [NewWriter] shows it in
// one of the [Formats]:
//
//   - For programs: json, jsonl, csv and tsv. Every column is written, numbers
//     in full (the shortest digits that give the same float64 back). Rows are
//     written as they come, so that memory does not grow with their number.
//   - For people: table, markdown and latex. Columns with Hide are left out,
//     numbers are rounded to the column's Digits, and a title and footnotes
//     may be added. Rows are held until Close, which writes everything.
//
// [Progress] shows how far long work is: a bar on a terminal, plain lines in a
// log.
//
// # Missing values
//
// A missing value ([Null], a NaN) is not an empty string and not 0:
//
//	           missing string   missing number   empty string   infinity
//	json(l)    null             null             ""             null
//	csv        (nothing)        (nothing)        "" (quoted)    inf, -inf
//	tsv        \N               (nothing)        (nothing)      inf, -inf
//	table      –                –                (nothing)      inf, -inf
//
// JSON has no infinity, hence the null. Where a table has a single column,
// CSV writes a missing value as "" and TSV as \N, since readers skip blank
// lines.
//
// An interval is an array of two numbers in JSON, 0.1..0.9 in CSV and TSV,
// and [0.1, 0.9] for people.
//
// # Untrusted text
//
// Strings may come from models and data sets, and are never trusted:
//
//   - In every format, bytes that are not UTF-8 become U+FFFD.
//   - JSON escapes control and invisible characters (among them U+2028 and
//     the bidirectional controls), which decoding undoes. Nothing is escaped
//     for HTML.
//   - CSV and TSV put an apostrophe before a string that a spreadsheet would
//     take for a formula: one that begins with =, +, -, @, their full-width
//     forms, a tab, CR or LF. A string that begins with apostrophes followed
//     by one of these gets one more, so that the change can be undone.
//     Numbers stay as they are.
//   - CSV quotes as in RFC 4180; lines end in LF. TSV never quotes; it writes
//     tab, LF, CR and backslash as \t, \n, \r and \\. Both show other control
//     characters and direction controls as \x1b and \u202e, because people look at these files on
//     terminals too.
//   - The formats for people make characters that act on a terminal, or are
//     invisible, visible as [Visible] does; markdown and latex then escape their own syntax.
package report
