// Package load holds no code. Its tests run the program against a server in a
// process of its own, which is slow, faulty or both, kill it, and let
// two of it share a cache; its benchmarks measure throughput, CPU time and
// memory. benchmarks/servers/load.sh runs all of it at full size.
package load
