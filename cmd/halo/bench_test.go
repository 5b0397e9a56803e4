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
		{"-sizes 8", "no benchmark is given"},
		{"speed", `no benchmark "speed"; there are latency, `},
		{"latency bw", "two benchmarks are given"},
		{"-n 3 latency", "latency takes exactly two ranks, not 3"},
		{"-n 3 msgrate", "msgrate takes an even number of ranks, not 3"},
		{"-n 0 barrier", "barrier wants at least one rank, not 0"},
		{"-fabric udp latency", `-fabric is "udp", want shm or tcp`},
		{"-bind socket latency", `-bind is "socket", want core or none`},
		{"-sizes 8,x latency", `not "8,x"`},
		{"-sizes -1 latency", `not "-1"`},
		{"-sizes 12 allreduce", "allreduce takes sizes that are multiples of 8 from 8, not 12"},
		{"-sizes 0 matching", "matching takes depths from 1 to 1000000, not 0"},
		{"-sizes 0 bw", "bw takes sizes from 1, not 0"},
		{"-n 3 put", "put takes exactly two ranks, not 3"},
		{"-sizes 0 put", "put takes sizes from 1, not 0"},
		{"-sizes 12 acc", "acc takes sizes that are multiples of 8 from 8, not 12"},
		{"-win heap put", `no kind of window "heap"; there are allocate, shared`},
		{"-win shared, get", `no kind of window ""`},
		{"-types int128 fop", `fop has no elements of type "int128"`},
		{"-types float32 cas", `cas has no elements of type "float32"`},
		{"-types int8 put", "-types is for acc"},
		{"-workers 0 mtflush", "mtflush takes 1 to 64 workers, not 0"},
		{"-workers 65 mtflush", "not 65"},
		{"-workers x mtflush", `-workers: want`},
		{"-workers 4 put", "-workers is for mtflush"},
		{"-op fop put", "-op is for mtflush"},
		{"-op acc mtflush", `no operation "acc"; there are put, get, fop, cas`},
		{"-op put phases", `phases has the operations exchange, stencil, allreduce, barrier, fence, lock, pscw, notify, not "put"`},
		{"-op lu proxy", `proxy has the applications cg, md, fft, wavefront, tasks, walk, not "lu"`},
		{"-n 3 waitsome", "waitsome takes an even number of ranks, not 3"},
		{"-op lock barrier", "none of the options of one-sided communication"},
		{"-uneven random phases", `-uneven is varied or skewed, not "random"`},
		{"-uneven skewed barrier", "barrier has no computation: -uneven is for phases"},
		{"-scope thread put", "-scope and -order are for mtflush"},
		{"-order latency", "none of the options of one-sided communication"},
		{"-scope goroutine mtflush", `scope process or thread, not "goroutine"`},
		{"-ops -1 passive", "passive takes 1 to 10000000 operations"},
		{"-busy-ms 60001 passive", "not 20000 and 60001"},
		{"-ops 5 get", "-ops and -busy-ms are for passive"},
		{"-peers put", "-peers, -svg and -points are for seeds"},
		{"-svg x barrier", "-peers, -svg and -points are for seeds"},
		{"-n 2 spawn", "spawn takes exactly one rank, not 2"},
		{"-n 1 connect", "connect takes exactly two ranks, not 1"},
		{"-sizes 0 spawn", "spawn takes numbers of processes from 1 to 1024, not 0"},
		{"-sizes 5000000 across", "across takes sizes to 4194304, not 5000000"},
		{"-n 3 seeds", "seeds takes exactly two ranks, not 3"},
		{"-win allocate seeds", "seeds takes none of the options of one-sided communication"},
		{"-win allocate latency", "latency takes none of the options of one-sided communication"},
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

// Without a name halo bench runs a page of several benchmarks, with the flags that hold for all of them.
func TestBenchWithoutAName(t *testing.T) {
	for _, args := range []string{"", "-n 3", "-fabric tcp -json", "-bind none -n 1"} {
		lines := pageArgs(strings.Fields(args))
		if len(lines) != len(benchPage()) {
			t.Errorf("%q: %d benchmarks", args, len(lines))
		}
		for _, line := range lines {
			p, err := parseBench(line, io.Discard)
			if err != nil {
				t.Errorf("%q: %q: %v", args, line, err)
			} else if strings.Contains(args, "tcp") && (p.Fabric != "tcp" || !p.JSON) {
				t.Errorf("%q: %q: the flags are lost", args, line)
			} else if want := 3; args == "-n 3" && p.Name == "allreduce" && p.ranks != want {
				t.Errorf("%q: allreduce on %d ranks", args, p.ranks)
			}
		}
	}
	for _, args := range []string{"-sizes 8", "latency", "-n 3 barrier", "-peers", "-no-such"} {
		if lines := pageArgs(strings.Fields(args)); lines != nil {
			t.Errorf("%q runs the page: %q", args, lines)
		}
	}
}

func TestBenchLaunchesItself(t *testing.T) {
	p, err := parseBench(strings.Fields("-n 4096 -fabric tcp -sizes 8,64 allreduce -json"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(p.runArgs("/bin/halo", "tcp"), " ")
	want := "-n 4096 -fabric tcp -bind none /bin/halo bench -rank -fabric tcp -json=true -sizes=8,64 allreduce"
	if got != want {
		t.Errorf("runs with\n%s\nwant\n%s", got, want)
	}
	p, err = parseBench(strings.Fields("passive -win create,dynamic-heap -ops 100 -busy-ms 20"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got = strings.Join(p.runArgs("/bin/halo", p.fabrics[len(p.fabrics)-1]), " ")
	want = "-n 2 -fabric tcp -bind none /bin/halo bench -rank -fabric tcp -busy-ms=20 -ops=100 -win=create,dynamic-heap passive"
	if got != want {
		t.Errorf("runs with\n%s\nwant\n%s", got, want)
	}
	if n := len(p.fabrics); n != 2 && runtime.GOOS == "linux" {
		t.Errorf("passive runs over %v, want shm and tcp", p.fabrics)
	}
	p, err = parseBench([]string{"-n", "1", "barrier"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if p.bind != "core" {
		t.Errorf("one rank on %d cores is bound to %q, want core", runtime.NumCPU(), p.bind)
	}
}
