// Package cache stores costly results, so that they are computed or paid for only once:
// answers of language models, and scores.
//
// A [Store] maps a [Key] of 32 bytes to a [Record] of bytes with a checksum:
//
//   - A [Database] is persistent: a SQLite file, or a Postgres database that
//     several machines share. [Open] opens either.
//   - [Memory] lives as long as the process.
//
// [Store.Put] writes a key once: the first value stays, and Put returns it.
// [Store.Replace] writes a key any number of times. Processes use claims to agree on who
// makes a value, so that no value is made twice at once.
//
// [Answers] reads and writes the answers in a store. A [Request] is exactly what
// determines an answer. It contains no base URL, API key, header or timeout, so none of
// these can reach a file. Its Key is the SHA-256 of a versioned encoding. An [Entry] is a
// request with its [Answer]. [Export] and [Import] write and read entries as JSON Lines.
//
// [Scores] reads and writes blocks of scores.
//
// # Claims
//
// Two processes that share a store would pay twice for a question that both lack. So each claims
// what it is about to ask for, in one transaction; the other waits for the answer, or takes the
// claim over when its owner stops renewing it. The first answer stays, and both use it.
package cache
