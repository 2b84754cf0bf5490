// Package language tells whether an answer is in the language of its reference.
//
// Where the two are written in different scripts, letters are counted. Where
// they share one, models decide, if there are any: package lingua has those of
// lingua-go, which take 130 MB of a program, and package served asks another
// program for them, which is how refract does it. Without models this package tells
// scripts apart alone, and package check 27 languages by their frequent words.
package language
