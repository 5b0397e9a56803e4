//go:build linux

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// entry is one line of a list: a program, on how many ranks, with which arguments.
type entry struct {
	name string
	n    int
	args []string
}

func readList(t *testing.T, name string) []entry {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var list []entry
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 2 {
			t.Fatalf("%s:%d: %q has no number of ranks", name, i+1, line)
		}
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 {
			t.Fatalf("%s:%d: %q is no number of ranks", name, i+1, words[1])
		}
		list = append(list, entry{words[0], n, words[2:]})
	}
	return list
}

// TestPrograms runs all programs of the lists over each fabric. A program that
// checks itself prints "no errors" and nothing else; other programs exit with status 0.
func TestPrograms(t *testing.T) {
	need(t)
	t.Parallel()
	list := append(readList(t, "../list"), readList(t, "../list.halo")...)
	at, watch := programs(t, list), sanitizing()
	if t.Failed() {
		return
	}
	for _, e := range list {
		source, err := os.ReadFile("../" + e.name + ".c")
		if err != nil {
			t.Fatal(err)
		}
		checks := strings.Contains(string(source), `#include "check.h"`)
		for _, fabric := range []string{"shm", "tcp"} {
			if fabric == "tcp" && e.n == 1 {
				continue
			}
			name := strings.Join(append([]string{fmt.Sprintf("%s-%d", e.name, e.n)}, e.args...), "-")
			t.Run(fabric+"/"+name, func(t *testing.T) {
				t.Parallel()
				words := watch.words(append([]string{at[e.name]}, watch.arguments(e)...)...)
				r := launched(t, fabric, e.n, nil, words[0], words[1:]...)
				if r.status != 0 || r.err != "" || checks && r.out != "no errors\n" {
					t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
				}
			})
		}
	}
}

// Every program is in a list, or named in a test.
func TestAllProgramsAreListed(t *testing.T) {
	known := map[string]bool{}
	for _, e := range append(readList(t, "../list"), readList(t, "../list.halo")...) {
		known[e.name] = true
	}
	sources, err := filepath.Glob("../*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d programs, %v", len(sources), err)
	}
	for _, s := range sources {
		if name := strings.TrimSuffix(filepath.Base(s), ".c"); !known[name] && !named[name] {
			t.Errorf("%s is in no list", s)
		}
	}
}
