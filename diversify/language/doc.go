// Package language tells in which of a few languages a text is.
//
// Where the languages are written in different scripts, letters are counted.
// Where some share a script, the models of lingua-go decide, which are part of
// the program and are loaded when they are first needed. A program that is
// built with the tag nolingua has no such models, and tells languages by their
// scripts alone.
package language
