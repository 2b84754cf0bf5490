// Package guard protects judges from the untrusted texts that they read: a
// hypothesis can contain text that a model takes for an order, for the end of its
// prompt, or for its own answer.
//
//   - [Flags] names what is suspicious in a text. It never changes the text.
//   - [Fence] is the hardened way to put a text into a prompt: as data that its
//     author cannot end early, and whose special tokens reach the model as plain
//     text.
//
// These functions work on strings without a model, and depend only on their
// arguments.
package guard
