// Package llm calls OpenAI-compatible model servers: chat completions, legacy
// completions, embeddings and the Batch API, of one server or several.
//
// A call passes through these steps:
//
//  1. [Client.Complete] or [Client.Embed] checks the request and writes its body:
//     the sampling parameters, the model name and extra fields exactly as they
//     were given. go-openai's client makes the call.
//  2. The transport below it repeats what a later attempt may cure: statuses 408,
//     409, 429 and 5xx, connection errors and answers that were cut, with full
//     jitter. It sends each attempt to the server with the fewest calls in flight,
//     keeps to its [Limits], and leaves a server alone for as long as that asks.
//  3. The server makes one attempt: it puts a time limit on it, reads the answer
//     up to a bound, and says what went wrong, once, for the transport and for
//     the caller. The answer is read from the raw body.
//
// [Request.PromptLogprobs] asks for the log-probabilities of a prompt's tokens
// instead of an answer; [ParseTokens] reads them.
//
// A failed call gives an [*Error], whose kind is tested with [errors.Is], and which
// wraps go-openai's error where the server gave one. An
// answer that the server withheld is no error: it has no text, which differs
// from an empty text.
//
// [Client.Call] sends what another [Protocol] has through the same steps.
//
// [Client.Ready] asks whether the servers can be called, and [Client.Stats]
// tells what has become of the attempts. The methods for batches are used by
// package llm/ask, which runs whole jobs.
//
// Keys never appear in errors or in formatted values of this package, even
// where a server echoes them.
package llm
