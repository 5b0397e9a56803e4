package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/cmd/halo/internal/benchmark"
)

// benchPage are the arguments of the benchmarks that `halo bench` runs when none is named: what a user asks first
// about a machine. All of them take less than 10 seconds.
func benchPage() [][]string {
	return [][]string{
		{"-sizes=8,1024,65536", "latency"},
		{"-sizes=65536,1048576", "bw"},
		{"-sizes=8", "msgrate"},
		{"barrier"},
		{"-sizes=8,65536", "allreduce"},
		{"-sizes=8", "alltoall"},
		{"-sizes=8,65536", "put"},
		{"-sizes=8", "fop"},
		{"init"},
	}
}

// onPage are the flags that hold for every benchmark of the page, but that -n is for collectives and init alone: the
// others take two ranks.
var onPage = []string{"n", "fabric", "bind", "json"}

// anyRanks are the benchmarks of the page that take any number of ranks.
var anyRanks = []string{"barrier", "allreduce", "alltoall", "init"}

// pageArgs returns the command lines of the page if args name no benchmark, and nil otherwise.
func pageArgs(args []string) [][]string {
	p := &benchPlan{}
	fs := benchFlags(p, io.Discard)
	planFlags(fs, &p.Plan)
	if fs.Parse(args) != nil || fs.NArg() > 0 {
		return nil
	}
	every, ranks, given := true, []string(nil), []string(nil)
	fs.Visit(func(f *flag.Flag) {
		every = every && slices.Contains(onPage, f.Name)
		if f.Name == "n" {
			ranks = append(ranks, "-n="+f.Value.String())
		} else {
			given = append(given, "-"+f.Name+"="+f.Value.String())
		}
	})
	if !every {
		return nil
	}
	var lines [][]string
	for _, one := range benchPage() {
		line := given
		if slices.Contains(anyRanks, one[len(one)-1]) {
			line = slices.Concat(given, ranks)
		}
		lines = append(lines, slices.Concat(line, one))
	}
	return lines
}

// page runs the benchmarks of the page, one after the other.
func page(lines [][]string, self string, stdout, stderr io.Writer) int {
	for i, line := range lines {
		p, err := parseBench(line, stderr)
		if err != nil {
			if !errors.Is(err, flag.ErrHelp) {
				fmt.Fprintln(stderr, "halo bench:", strings.TrimSpace(err.Error()))
			}
			return 2
		}
		if i > 0 && !p.JSON {
			fmt.Fprintln(stdout)
		}
		if status := p.measure(self); status != 0 {
			return status
		}
	}
	return 0
}

// pageNames names the benchmarks of the page.
func pageNames() string {
	var names []string
	for _, line := range benchPage() {
		names = append(names, line[len(line)-1])
	}
	return strings.Join(names, ", ")
}

// describeBenchmarks is the list of all benchmarks, and of those that run when none is named.
func describeBenchmarks() string {
	return fmt.Sprintf("%s\nWithout NAME it runs a page of less than 10 seconds: %s.\n", benchmark.Describe(), pageNames())
}
