package main

import (
	"errors"
	"flag"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestBenchArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "which benchmark?"},
		{"speed", `no benchmark "speed"; there are latency, bw`},
		{"latency bw", "one benchmark at a time"},
		{"-n 3 latency", "latency takes exactly two ranks, not 3"},
		{"-n 3 msgrate", "msgrate takes an even number of ranks, not 3"},
		{"-n 0 barrier", "barrier wants at least one rank, not 0"},
		{"-fabric udp latency", `-fabric is shm or tcp, not "udp"`},
		{"-bind socket latency", `-bind is core or none, not "socket"`},
		{"-sizes 8,x latency", `not "8,x"`},
		{"-sizes -1 latency", `not "-1"`},
		{"-sizes 12 allreduce", "allreduce takes sizes that are multiples of 8 from 8, not 12"},
		{"-sizes 0 matching", "matching takes depths from 1 to 1000000, not 0"},
		{"-sizes 0 bw", "bw takes sizes from 1, not 0"},
	} {
		_, err := parseBench(strings.Fields(c.args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("halo bench %s: %v, want %q in it", c.args, err, c.want)
		}
	}
	if _, err := parseBench([]string{"-help"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
}

func TestBenchLaunchesItself(t *testing.T) {
	p, err := parseBench(strings.Fields("-n 4096 -fabric tcp -sizes 8,64 allreduce -json"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(p.runArgs("/bin/halo"), " ")
	want := "-n 4096 -fabric tcp -bind none /bin/halo bench -rank -fabric tcp -sizes 8,64 -json allreduce"
	if got != want {
		t.Errorf("runs with\n%s\nwant\n%s", got, want)
	}
	p, err = parseBench([]string{"-n", "1", "barrier"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if p.bind != "core" {
		t.Errorf("one rank on %d cores is bound to %q, want core", runtime.NumCPU(), p.bind)
	}
}
