package benchmark

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Machine describes a run of `halo bench seeds` in addition to its points.
type Machine struct {
	Measured string // when, and of which revision
	CPU      string
	Cores    int
	System   string
	Versions []string // of Halo and of the peers
	Note     string   // more, in sentences
}

// reportHead is the beginning of the report, which explains how to read it.
const reportHead = `# Experiments

The experiments of the paper "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI
One-Sided Communication", which proposed what [extensions.md](extensions.md) has of windows'
scope, order and duplicates, of intrinsic accumulates and of memory handles. This page is what

    halo bench seeds -peers -svg docs/figures > docs/experiments.md

has written on the machine below. The paper's figures came from InfiniBand, with a computer
of 128 cores for each rank; only their captions and text have survived. So nothing here is
compared with the paper's numbers: its claims are, and other MPIs that run the same loops in C
(bench/halobench.c) on the same machine. Each point is the median of five runs. The page
may be made of several measurements (` + "`-points`" + `); then it is the median of those.

A criterion is met if all sizes meet it, unless the sentence names one. Where something is not to take
longer, 5 % are taken for the spread of the measurement.
`

// WriteReport writes the report on points. If dir is not empty it also writes a figure for each
// experiment and fabric into dir, and the report refers to these.
func WriteReport(out io.Writer, m Machine, points []Point, dir string) error {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	var b strings.Builder
	b.WriteString(reportHead)
	if m.Measured != "" {
		fmt.Fprintf(&b, "\nMeasured %s.\n", m.Measured)
	}
	fmt.Fprintf(&b, "\nMachine: %s, %d cores, %s; %s. Two ranks; times in us per operation.\n", m.CPU, m.Cores, m.System, strings.Join(m.Versions, ", "))
	if m.Note != "" {
		fmt.Fprintf(&b, "%s\n", m.Note)
	}
	for _, x := range Experiments() {
		mine := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Exp != x.ID })
		if len(mine) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s: %s\n\n*Paper, %s:* %s\n\n*Criterion:* %s\n", x.ID, x.Title, x.Figure, x.Claim, x.Criterion)
		for _, fabric := range []string{"shm", "tcp"} {
			f := &figure{exp: x, fabric: fabric}
			f.points = slices.DeleteFunc(slices.Clone(mine), func(p Point) bool { return p.Fabric != fabric })
			if len(f.points) == 0 {
				continue
			}
			fmt.Fprintf(&b, "\n### Over %s\n\n", fabric)
			if dir != "" {
				name := strings.ToLower(x.ID) + "-" + fabric + ".svg"
				if err := os.WriteFile(filepath.Join(dir, name), []byte(f.svg()), 0o644); err != nil {
					return err
				}
				fmt.Fprintf(&b, "![%s over %s](%s)\n\n", x.Title, fabric, filepath.ToSlash(filepath.Join(filepath.Base(dir), name)))
			}
			f.table(&b)
			for _, s := range f.judge() {
				fmt.Fprintf(&b, "\n%s\n", s)
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// table writes the points: a row for each X, a column for each series.
func (f *figure) table(b *strings.Builder) {
	names := f.series()
	fmt.Fprintf(b, "| %s | %s |\n|---|%s\n", f.exp.XLabel, strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, x := range f.columns() {
		label := amount(x)
		if f.exp.Groups != nil {
			label = f.exp.Groups[int(x)]
		}
		fmt.Fprintf(b, "| %s |", label)
		for _, name := range names {
			if us, ok := f.us(name, x); ok {
				fmt.Fprintf(b, " %s |", plain(us))
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteByte('\n')
	}
}

// us returns the time of a series at x; false if there is no such point.
func (f *figure) us(series string, x float64) (float64, bool) {
	for _, p := range f.points {
		if p.Series == series && p.X == x {
			return p.US, true
		}
	}
	return 0, false
}
