// Package cache stores the answers of language models, so that none is asked
// for twice.
//
// A [Request] is all that determines an answer and nothing else: neither a
// base URL nor a key, a header or a timeout is part of it, so none of them can
// reach a file. Its [Key] is the SHA-256 of a versioned encoding. An [Entry]
// is a request with the [Answer] to it. A [Store] maps keys to entries:
//
//   - [SQLite] is a file. Every answer is committed before Put returns.
//   - [Postgres] is a database that several machines share.
//   - [Memory] lives as long as the process.
//
// [Open] opens either of the first two. All of them let processes agree on who
// asks for an answer, so that none is asked for twice while it is under way.
// [Answers] reads and writes the answers of any store.
//
// The first answer to a request is the one that counts: a later Put of the
// same key changes nothing and is no error. Who must agree with later runs
// therefore stores an answer and then uses what Get returns.
//
// [Export] and [Import] write and read entries as JSON Lines.
package cache
