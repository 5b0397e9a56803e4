package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/cmd/halo/internal/benchmark"
)

// Lines of halobench become points of the experiments with such a loop.
func TestEXP1_EXP2_EXP4_PointsOfPeers(t *testing.T) {
	point := func(exp, series string, x, us float64) benchmark.Point {
		return benchmark.Point{Exp: exp, Fabric: "tcp", Series: series, X: x, US: us}
	}
	for _, c := range []struct {
		line peerLine
		want []benchmark.Point
	}{
		{peerLine{Bench: "put", Win: "allocate", Size: 4, US: 2, Mrate: 1e6}, []benchmark.Point{
			point("EXP-1", "MPICH allocated", 4, 2), point("EXP-5", "MPICH put and flush", 4, 2), point("EXP-5", "MPICH unflushed", 4, 1)}},
		{peerLine{Bench: "put", Win: "dynamic", Size: 4, US: 2}, []benchmark.Point{point("EXP-1", "MPICH dynamic", 4, 2)}},
		{peerLine{Bench: "passive", Op: "put", Win: "dynamic", BusyUS: 9}, []benchmark.Point{point("EXP-2", "MPICH", 1, 9)}},
		{peerLine{Bench: "passive", Op: "get", Win: "dynamic", BusyUS: 9}, nil},
		{peerLine{Bench: "mtflush", Workers: 32, US: 3}, []benchmark.Point{point("EXP-4", "MPICH", 32, 3), point("EXP-3b", "MPICH", 1, 3)}},
	} {
		got := c.line.points("MPICH", "tcp")
		if len(got) != len(c.want) {
			t.Errorf("%+v: %+v", c.line, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%+v: point %d is %+v, want %+v", c.line, i, got[i], c.want[i])
			}
		}
	}
}

// Points that were written are read again, and the page made of them.
func TestSeedsOfPoints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "points")
	var text bytes.Buffer
	points := []benchmark.Point{{Exp: "EXP-2", Fabric: "shm", Series: "Halo", X: 0, US: 0.02}, {Exp: "EXP-2", Fabric: "shm", Series: "Halo", X: 1, US: 50}}
	for _, p := range points {
		if err := p.Write(&text); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := parseBench([]string{"seeds", "-points", file}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := p.seeds("", &page, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## EXP-2:", "| allocated | 0.02 |", "| dynamic | 50 |", "at most 50 us: **not met**"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q:\n%s", want, page.String())
		}
	}
	p.points += "x"
	if err := p.seeds("", &page, io.Discard); err == nil {
		t.Error("a file that is not there is taken")
	}
}
