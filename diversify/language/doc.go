// Package language tells whether an answer is in the language of its reference.
//
// Where the two are written in different scripts, letters are counted. Where
// they share one, the models of lingua-go decide, which are part of the program
// and are loaded when they are first needed. A program that is built with the
// tag nolingua has no such models: this package then tells scripts apart alone, and
// package check 27 languages by their frequent words.
package language
