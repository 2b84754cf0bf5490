// Package page writes a report as one HTML file that needs nothing else: no
// network, no server, no other file.
//
//  1. The caller fills a [Document] with plain values: the claim and its evidence,
//     forests, figures, rankings, tables and, in an [Explorer], the texts.
//  2. [Write] checks them and writes the page. Everything above the segments is
//     ordinary HTML, which can be read, sorted and printed at once.
//  3. In the browser, the page's script reads the columns of numbers, shows
//     the list of segments, and unpacks texts when they are looked at.
//
// # Untrusted text
//
// Every text may come from a model or a data set. html/template escapes the
// texts of the static part, and [report.Visible] makes invisible characters visible
// there. The texts of the explorer are inside base64, where no text can end an
// element, and reach the page only by textContent; invisible characters and direction
// controls are replaced by a label with their code. The content security policy allows
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
//     them, with seven digits; tables keep all digits.
//   - Texts are JSON in blocks of some 200 kB, each compressed by gzip and
//     written in base64. Each text is stored once: scores, deciding references and
//     matches refer to it by index. Plain JSON would be more than twice as large
//     (14 MB), and the browser would have to parse it all before the first row; a
//     single block would be 1% smaller, but nothing could be shown before all of it
//     is unpacked. Base64 adds a third to the compressed size, and is what HTML can
//     carry.
//   - A search reads all blocks, once, while the page stays usable.
//
// A browser unpacks gzip by DecompressionStream, which all have had since 2023.
package page
