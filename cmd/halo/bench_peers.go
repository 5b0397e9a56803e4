package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/cmd/halo/internal/benchmark"
)

// peer is another implementation of MPI, which runs the loops of the experiments in C.
type peer struct {
	name    string   // in the names of series
	suffix  string   // of its programs, as Debian names them
	version []string // command that prints the version
	label   string   // precedes the version in the output of that command
	launch  []string // arguments of its mpirun
	env     []string
	tcp     []string // further environment, over tcp
	fabrics []string // where its one-sided communication works
}

// peers returns the implementations that are known. One-sided communication of Open MPI 4.1 works in shared memory only.
func peers() []peer {
	return []peer{
		{"MPICH", "mpich", []string{"mpichversion"}, "MPICH Version:", []string{"-n", "2"},
			nil, []string{"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self"}, []string{"shm", "tcp"}},
		{"Open MPI", "openmpi", []string{"ompi_info"}, "Open MPI:", []string{"--oversubscribe", "-n", "2"},
			[]string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}, nil, []string{"shm"}},
	}
}

// peerTimeout ends a run of a peer that hangs.
const peerTimeout = 40 * time.Second

// peerPoints builds halobench for all peers that are installed, and runs it. Runs that fail are
// reported in log and left out.
func peerPoints(fabrics []string, log io.Writer) (points []benchmark.Point, versions []string, err error) {
	dir, err := os.MkdirTemp("", "halobench")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	source, err := halobench()
	if err != nil {
		return nil, nil, err
	}
	for _, m := range peers() {
		program := filepath.Join(dir, "halobench-"+m.suffix)
		build := exec.Command("mpicc."+m.suffix, "-O2", "-std=gnu11", "-pthread", "-o", program, source)
		if text, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(log, "%s is left out: mpicc.%s: %v %s\n", m.name, m.suffix, err, bytes.TrimSpace(text))
			continue
		}
		versions = append(versions, m.name+" "+m.number())
		for _, fabric := range fabrics {
			if !slices.Contains(m.fabrics, fabric) {
				fmt.Fprintf(log, "%s has no working one-sided communication over %s\n", m.name, fabric)
				continue
			}
			fmt.Fprintf(log, "%s over %s\n", m.name, fabric)
			for _, args := range [][]string{
				{"put", "-win", "allocate,dynamic", "-sizes", "1,4,16,64,256,1024,4096,16384,65536,262144,1048576"},
				{"passive", "-win", "allocate,dynamic", "-busy-ms", "300", "-ops", "10000"},
				{"mtflush", "-workers", "1,2,4,8,16,32"},
				{"fop"},
			} {
				lines, err := m.run(program, fabric, args)
				if err != nil {
					fmt.Fprintf(log, "%s over %s: %s is left out: %v\n", m.name, fabric, args[0], err)
				}
				for _, l := range lines {
					points = append(points, l.points(m.name, fabric)...)
				}
			}
		}
	}
	return points, versions, nil
}

// halobench finds the C program in the source tree around the working directory.
func halobench() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		source := filepath.Join(d, "bench", "halobench.c")
		if _, err := os.Stat(source); err == nil {
			return source, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("-peers: bench/halobench.c is not at or above %s: run this inside the source tree", dir)
		}
	}
}

// number returns the version of the peer.
func (m *peer) number() string {
	text, err := exec.Command(m.version[0], m.version[1:]...).Output()
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if _, v, ok := strings.Cut(line, m.label); ok {
				return strings.TrimSpace(v)
			}
		}
	}
	return "of unknown version"
}

// run runs halobench and returns the lines that it has printed, even if it has failed.
func (m *peer) run(program, fabric string, args []string) ([]peerLine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), peerTimeout)
	defer cancel()
	bind := "core"
	if args[0] == "mtflush" || args[0] == "passive" {
		bind = "none"
	}
	bindTo := map[string]string{"mpich": "-bind-to", "openmpi": "--bind-to"}[m.suffix]
	line := append(slices.Clone(m.launch), bindTo, bind, program, args[0], "-fabric", fabric)
	cmd := exec.CommandContext(ctx, "mpirun."+m.suffix, append(line, args[1:]...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the launcher ends its ranks
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(os.Environ(), m.env...)
	if fabric == "tcp" {
		cmd.Env = append(cmd.Env, m.tcp...)
	}
	text, failed := cmd.Output()
	var lines []peerLine
	for line := range bytes.Lines(text) {
		var l peerLine
		if json.Unmarshal(line, &l) == nil && l.Bench != "" {
			lines = append(lines, l)
		}
	}
	if ctx.Err() != nil {
		failed = fmt.Errorf("did not end within %v", peerTimeout)
	}
	return lines, failed
}

// peerLine is one line of halobench.
type peerLine struct {
	Bench   string
	Win     string
	Size    float64
	US      float64
	Mrate   float64
	Workers float64
	Op      string
	BusyUS  float64 `json:"busy_us"`
}

// points converts a line to points of the experiments.
func (l *peerLine) points(name, fabric string) []benchmark.Point {
	point := func(exp, series string, x, us float64) benchmark.Point {
		return benchmark.Point{Exp: exp, Fabric: fabric, Series: series, X: x, US: us}
	}
	window := map[string]string{"allocate": "allocated", "dynamic": "dynamic"}[l.Win]
	switch {
	case l.Bench == "put" && l.Win == "allocate":
		return []benchmark.Point{point("EXP-1", name+" "+window, l.Size, l.US), point("EXP-5", name+" put and flush", l.Size, l.US), point("EXP-5", name+" unflushed", l.Size, 1e6/l.Mrate)}
	case l.Bench == "put":
		return []benchmark.Point{point("EXP-1", name+" "+window, l.Size, l.US)}
	case l.Bench == "passive" && l.Op == "put":
		return []benchmark.Point{point("EXP-2", name, map[string]float64{"allocate": 0, "dynamic": 1}[l.Win], l.BusyUS)}
	case l.Bench == "mtflush":
		all := []benchmark.Point{point("EXP-4", name, l.Workers, l.US)}
		switch l.Workers {
		case 1:
			all = append(all, point("EXP-3a", name, 1, l.US))
		case 32:
			all = append(all, point("EXP-3b", name, 1, l.US))
		}
		return all
	case l.Bench == "fop":
		return []benchmark.Point{point("EXP-8", name+" fetch_and_op", l.Size, l.US)}
	}
	return nil
}
