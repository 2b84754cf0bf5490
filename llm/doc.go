// Package llm calls OpenAI-compatible model servers: chat completions and
// legacy completions, one prompt and one answer a call.
//
// A call passes through these steps:
//
//  1. [Client.Complete] checks the request and hands it to go-openai, which
//     builds the HTTP request.
//  2. The wire step writes the sampling parameters and the model name into
//     the body exactly as they were given. go-openai leaves out a temperature
//     of 0, rounds numbers to 32 bits and refuses some models by name.
//  3. The retry step repeats what a later attempt may cure: statuses 408,
//     409, 429 and 5xx, connection errors and answers that were cut. It waits
//     as long as the server asks, and with full jitter otherwise.
//  4. The attempt step puts a time limit on one exchange, reads the answer
//     up to a bound and says what went wrong, once, for the retry step and
//     for the caller.
//
// A failed call gives an [*Error], whose kind is tested with [errors.Is]. An
// answer that the server withheld is no error: it has no text, which differs
// from an empty text.
//
// Keys never appear in errors or in formatted values of this package, even
// where a server echoes them.
package llm
