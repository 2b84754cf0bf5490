// Package language tells whether an answer is in the language of its reference.
//
// Different scripts are told apart by counting letters. Languages of the same script are told
// apart by the models of lingua-go, which add 130 MB to a program; the build tag lean leaves
// them out. Without the models, or if they find nothing, 27 languages are recognised by their
// frequent words.
package language
