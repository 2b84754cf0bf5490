// Package cache stores what is costly to make, so that it is made once: the
// answers of language models, and scores.
//
// A [Store] maps a [Key] of 32 bytes to a [Record] of bytes with a checksum:
//
//   - A [Database] outlives the process: a SQLite file ([openSQLite]), or a
//     Postgres database that several machines share ([openPostgres]). [Open]
//     opens either.
//   - [Memory] lives as long as the process.
//
// A key is written once ([Writer.Put]: the first value is the one that counts,
// and Put returns it), or as often as one likes ([Writer.Replace]). Processes
// agree by claims on who makes a value, so that none is made twice at once.
//
// [Answers] reads and writes the answers of a store. A [Request] is all that
// determines an answer and nothing else: neither a base URL nor a key, a header
// or a timeout is part of it, so none of them can reach a file. Its Key is the
// SHA-256 of a versioned encoding. An [Entry] is a request with the [Answer] to
// it. [Export] and [Import] write and read entries as JSON Lines.
//
// [Scores] reads and writes blocks of scores.
package cache
