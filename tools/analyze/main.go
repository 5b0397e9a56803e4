package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

func main() {
	// The collector would take a third of the time. The limit suits a machine with 4 GiB.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(3 << 30)
	lines := run(os.Args[1:])
	for _, line := range lines {
		fmt.Println(line)
	}
	if len(lines) > 0 {
		os.Exit(1)
	}
}

// run analyzes what arguments name, and returns what is wrong.
func run(args []string) []string {
	r := &report{lines: map[string]bool{}}
	if err := known(); err != nil {
		r.add(err.Error())
	}
	h := &history{files: map[string]bool{}, facts: map[string]*inheritance{}}
	for _, name := range args {
		system, processor, _ := strings.Cut(name, "/")
		if system == "." {
			h.analyze(name, name, os.Environ(), nil, r)
			continue
		}
		env := append(os.Environ(), "GOOS="+system, "GOARCH="+processor)
		h.analyze(name, ".", env, nil, r)
		if name == host {
			h.analyze(name+" with the race detector", ".", env, []string{"-race", "-buildmode=exe"}, r)
		}
	}
	return slices.Sorted(maps.Keys(r.lines))
}

// host is this machine's platform.
const host = runtime.GOOS + "/" + runtime.GOARCH

// report is what is wrong, each once: packages and their tests have files in common.
type report struct {
	mu    sync.Mutex
	lines map[string]bool
}

func (r *report) add(line string) {
	if here, err := os.Getwd(); err == nil {
		line = strings.ReplaceAll(line, here+string(filepath.Separator), "")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines[line] = true
}
