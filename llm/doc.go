// Package llm calls OpenAI-compatible model servers: chat completions, legacy
// completions, embeddings and the Batch API, on one server or several.
//
// A call has these steps:
//
//  1. [Client.Complete] or [Client.Embed] checks the request. The endpoint's
//     form writes its body, with sampling parameters, model name and extra
//     fields exactly as given.
//  2. The transport retries failures that another attempt may
//     cure, with full jitter: statuses 408, 409, 429 and 5xx, connection errors
//     and answers that were cut. It sends each attempt to the server with the
//     fewest calls in flight, within the bound on calls, and pauses a server for
//     as long as the server asks.
//  3. The server makes one attempt with a time limit, reads the answer up to a
//     bound, and classifies failures for the transport and the caller. The form
//     parses the answer.
//
// [Request.PromptLogprobs] asks for the log-probabilities of a prompt's tokens
// instead of an answer; [ParseTokens] parses them.
//
// A failed call returns an [*Error]. [errors.Is] tests its kind. An answer that the server withheld
// is not an error: it has no text, which differs from an empty text.
//
// [Client.Call] sends the calls of another [Protocol] through the same steps, as do the
// methods for files and batches.
//
// [Client.Ready] tells whether the servers can be called. The methods for
// batches are used by package llm/ask, which runs whole jobs.
//
// Keys never appear in errors or formatted values of this package, even if a
// server echoes them.
//
// # An example
//
// A failure that another attempt may cure is tried again; what is left is the caller's decision:
//
//	client, err := llm.New(llm.Config{BaseURL: "http://127.0.0.1:8000/v1"})
//	answer, err := client.Complete(ctx, llm.Request{Model: "m", Prompt: "Reword: It rains."})
//
// Full jitter waits a random time up to a bound that doubles with each attempt, so that clients
// which failed together do not return together (Brooker, 2015, "Exponential Backoff and Jitter").
package llm
