// Package servers holds no code: its tests check the client and the program
// against real model servers. They are skipped unless the environment names
// one; benchmarks/peers/llamacpp.sh installs llama.cpp's and runs them.
package servers
