// Package judge asks language models to score texts.
//
// A judge is data: a [Definition] says what a model is asked, with which sampling, and how its
// answer is read. The built-in ones are files of the same form that users write, such as
// gemba-mqm.yaml (GEMBA-MQM: Kocmi and Federmann, 2023) and tigerscore.yaml (TIGERScore: Jiang
// et al., 2023).
//
//  1. The prompt is filled in by a single pass over the template, so that nothing in a text is
//     ever expanded. A hardened judge puts each text into a fence that its author cannot end.
//  2. Package llm/ask looks the request up in the store, or asks the model.
//  3. Package answer parses what it said into a report: errors with their places, severities
//     and penalties, or a number, a class, stars.
//  4. A [Policy] decides what becomes of an answer without a score. It is never 0 by itself.
//
// The prompt, the sampling and the parser are in the signature as one hash: scores of judges
// that ask differently are different metrics.
//
// An answer to GEMBA-MQM that lists one major and two minor errors scores -5 - 1 - 1 = -7.
package judge
