// Package servers holds no code: its tests check the client and the program
// against real model servers. They are skipped unless the environment names
// one. benchmarks/servers/llamacpp.sh installs llama.cpp's and runs them with it:
// calls of all kinds, every judge, the order of calls. benchmarks/servers/vllm.sh
// does so with vLLM, and adds structured output, its prefix cache, special tokens
// and log-probabilities of prompts.
package servers
