// Package buildtest is a scripted model for tests of builders: it answers their
// prompts in the true forms, and some of them badly, in ways that models have.
package buildtest
