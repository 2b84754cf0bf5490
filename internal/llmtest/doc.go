// Package llmtest is an OpenAI-compatible model server for tests: chat, legacy
// completions and embeddings, answers derived from the request alone or made by
// the test, log-probabilities of prompts in the forms of several servers, calls
// counted per prompt and kept in order, faults to order, health and a list of
// models.
//
// [NewServer] listens on a local port. [Handler] is the server without a
// port, for a program of its own or for a test's setup; its Transport serves
// without any network, so that a test in a synctest bubble controls the time.
package llmtest
