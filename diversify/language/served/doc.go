// Package served has language models in a program of their own, which other programs
// start: Serve is that program's part, and Program theirs.
//
//  1. The program says hello: {"refract-languages":1,"models":"NAME"}.
//  2. A request is a line with several texts: {"id":1,"texts":[{"text":"…","codes":["da","nb"]}]}.
//  3. Its answer is the next line: {"id":1,"probabilities":[[0.25,0.75]]}, or
//     {"id":1,"error":"…"} in place of numbers.
//
// Numbers go through as they are, so that verdicts are those of models in one's own
// program, to the bit. The program ends with its input.
package served

// protocol is the version of the protocol.
const protocol = 1

// hello is the first line that the program writes.
type hello struct {
	Protocol int    `json:"refract-languages"`
	Models   string `json:"models"` // their name
}

// request is a line that the program reads.
type request struct {
	ID    int        `json:"id"`
	Texts []question `json:"texts"`
}

// question is a text, and the languages that it may be in.
type question struct {
	Text  string   `json:"text"`
	Codes []string `json:"codes"`
}

// answer is a line that the program writes.
type answer struct {
	ID            int         `json:"id"`
	Probabilities [][]float64 `json:"probabilities,omitempty"` // of the codes, for each text
	Error         string      `json:"error,omitempty"`         // in place of them
}
