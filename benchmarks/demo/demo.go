// Package demo holds a small benchmark that its authors wrote for this
// program: translations from German into English and from English into
// German, summaries and image captions, with the outputs of four made-up
// systems of clearly different quality, the authors' own judgements of them
// (named "authors", 0 to 100), and an answer to each of the ten prompts for
// every reference; one has a second answer, because the first is rejected for a
// changed number. Systems, judgements and answers have one origin, so the
// numbers show how the program works and are no evidence for anything.
package demo

import (
	_ "embed"
)

// Model is the model's name under which the answers are recorded.
const Model = "recorded"

//go:embed sample.jsonl
var sample []byte

//go:embed answers.jsonl
var answers []byte

// Sample returns the segments as JSON Lines.
func Sample() []byte { return append([]byte(nil), sample...) }

// Answers returns the recorded answers as JSON Lines of cache entries.
func Answers() []byte { return append([]byte(nil), answers...) }
