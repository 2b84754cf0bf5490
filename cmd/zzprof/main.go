package main

import (
	"os"
	"runtime/pprof"

	"github.com/refract-eval/refract/cmd/refract/command"
)

func main() {
	f, _ := os.Create("/tmp/stats/cpu.prof")
	pprof.StartCPUProfile(f)
	c := command.Main()
	pprof.StopCPUProfile()
	os.Exit(c)
}
