// Package language tells whether an answer is in the language of its reference.
//
// Where the two are written in different scripts, letters are counted. Where
// they share one, the models of lingua-go decide, which take 130 MB of a program; the
// build tag lean leaves them out. Then, or where they find nothing, 27 languages are told
// apart by their frequent words.
package language
