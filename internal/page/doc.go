// Package page writes a report as one HTML file that needs nothing else: no
// network, no server, no other file.
//
//  1. The caller fills a [Document] with plain values: the sentence that leads,
//     forests, figures, rankings, tables and, in an [Explorer], the texts.
//  2. [Write] checks them, and writes the page. What stands above the segments
//     is ordinary HTML, which is read, sorted and printed without waiting.
//  3. In the browser, the page's script reads the columns of numbers, shows
//     the list of segments, and unpacks texts when they are looked at.
//
// # Untrusted text
//
// Every text may come from a model or a data set. html/template escapes those
// of the static part, in which characters without a shape are shown as
// [report.Visible] shows them. Those of the explorer are inside base64, where
// no text can end an element, and reach the page by textContent only; characters
// that would not be seen, or that turn the direction of what follows, are
// replaced by a label with their code. The content security policy allows
// the one script and the one style by their hashes, images that are part of
// the file, and nothing else; figures are images, in which nothing runs.
//
// # Size
//
// A report of 30,000 outputs (1,875 segments of 16 systems, 11 references each,
// scores against every reference for two metrics) takes about 7 MB, and its
// list is there within a second:
//
//   - Numbers that the list sorts and filters by are columns of 32-bit floats
//     and 16-bit indices, one block for all segments. Scores are shown from
//     them, so that seven digits are kept; tables keep all digits.
//   - Texts are JSON in blocks of some 200 kB, each compressed by gzip and
//     written in base64. Each text stands there once: scores, deciding
//     references and matches refer to it by index. Plain JSON would be
//     more than twice as large (14 MB) and be parsed in whole before the first
//     row; one compressed block would be a hundredth smaller, but nothing could
//     be shown before all of it is unpacked. Base64 gives back a third of what
//     gzip leaves, and is what HTML can carry.
//   - A search reads all blocks, once, while the page stays usable.
//
// A browser unpacks gzip by DecompressionStream, which all have had since 2023.
package page
