package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/cmd/halo/internal/benchmark"
)

// seeds runs the experiments over all fabrics, with the peers if they are asked for, and
// writes the page of them, or with -json the points.
func (p *benchPlan) seeds(self string, out, log io.Writer) error {
	m := machine()
	m.Note = p.note
	points, err := p.pointsOf(self, &m, log)
	if err != nil {
		return err
	}
	if p.JSON {
		for _, x := range points {
			if err := x.Write(out); err != nil {
				return err
			}
		}
		out = io.Discard
	}
	return benchmark.WriteReport(out, m, points, p.svg)
}

// pointsOf reads points from files, or measures Halo and then the peers.
func (p *benchPlan) pointsOf(self string, m *benchmark.Machine, log io.Writer) (points []benchmark.Point, err error) {
	if p.points != "" {
		for name := range strings.SplitSeq(p.points, ",") {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			read, err := benchmark.ReadPoints(bytes.NewReader(text))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			points = append(points, read...)
		}
		for _, x := range peers() {
			if !p.peers && slices.ContainsFunc(points, func(q benchmark.Point) bool { return strings.HasPrefix(q.Series, x.name) }) {
				m.Versions = append(m.Versions, x.name+" "+x.number())
			}
		}
	} else {
		for _, fabric := range p.fabrics {
			fmt.Fprintf(log, "Halo over %s\n", fabric)
			cmd := exec.Command(self, append([]string{"run"}, p.runArgs(self, fabric)...)...)
			cmd.Stderr = log
			text, err := cmd.Output()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
			}
			mine, err := benchmark.ReadPoints(bytes.NewReader(text))
			if err != nil {
				return nil, err
			}
			points = append(points, mine...)
		}
	}
	if p.peers {
		theirs, versions, err := peerPoints(p.fabrics, log)
		if err != nil {
			return nil, err
		}
		points = append(points, theirs...)
		m.Versions = append(m.Versions, versions...)
	}
	return benchmark.Merge(points), nil
}

// machine describes the one that this runs on.
func machine() benchmark.Machine {
	m := benchmark.Machine{Measured: "on " + time.Now().Format("2 January 2006"), CPU: runtime.GOARCH, Cores: runtime.NumCPU(), System: runtime.GOOS, Versions: []string{"Halo with " + runtime.Version()}}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		version, _, _ := strings.Cut(strings.TrimSpace(string(text)), "-")
		m.System = "Linux " + version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				m.Measured += ", revision " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return m
}
