// Package batch has many requests answered through a server's Batch API: at a
// lower price, within a day, and over any number of restarts.
//
// A run goes through these steps, again and again until every row has its
// result:
//
//  1. Items are cut into batches within the server's limits.
//  2. What is about to be submitted is written to the journal, the file is
//     uploaded, that is written to the journal, the batch is created, and its
//     id is written to the journal.
//  3. Open batches are polled, with pauses that grow.
//  4. The files of a batch that has ended are read line by line and joined
//     with the items on their IDs. Answers are handed out.
//  5. Rows that failed in a way that another attempt may cure are submitted
//     again, alone; other failures are handed out.
//
// A run can be killed at any moment. The next one with the same journal takes
// up the batches where they are. Where the last run ended while it created a
// batch, the server's list of batches tells whether there is one: by a random
// number that the journal and the batch's metadata hold, and by the file's id.
// So no row is submitted, and paid for, twice unless it failed.
package batch
