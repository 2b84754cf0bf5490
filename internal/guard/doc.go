// Package guard deals with texts that a judge reads and nobody vouches for: a
// hypothesis can carry what a model takes for an order, the end of its prompt,
// or its own answer.
//
//   - [Flags] names what is suspicious in a text. It never changes one.
//   - A [Fence] is the hardened way to put texts into a prompt: as data that
//     cannot end where its author wants it to, and whose special tokens reach
//     the model as text.
//   - [Canaries] are known-bad outputs with and without an injection. What a
//     judge makes of them shows whether it holds.
//
// All of it is over strings, without a model, and depends on nothing but its
// arguments.
package guard
