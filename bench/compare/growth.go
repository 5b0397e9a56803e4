package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// onlyGrowth is the value of -only that selects the rows of the chart of growth.
const onlyGrowth = "growth"

// A panel is one diagram of the chart of growth: the time of one call against the number of ranks.
type panel struct {
	title string
	row   row // for each number of ranks, with a format for it in the name
}

func panels() []panel {
	of := func(title, name, bench string, size int) panel {
		return panel{title, row{name: name, bench: bench, fabric: "shm", size: size, unit: "us"}}
	}
	return []panel{
		of("barrier", "barrier %d ranks", "barrier", -1),
		of("allreduce 8 B", "allreduce 8 B %d ranks", "allreduce", 8),
		of("alltoall 8 B", "alltoall 8 B %d ranks", "alltoall", 8),
		of("window of 8 B a rank, made and freed", "window 8 B %d ranks", "window", 8),
		of("communicator, duplicated and freed", "dup %d ranks", "dup", -1),
	}
}

// growthRanks are the numbers of ranks of a panel, each twice the one before.
func growthRanks() []int { return []int{2, 4, 8, 16, 32, 64} }

// at is the row of the panel with so many ranks.
func (p *panel) at(ranks int) row {
	r := p.row
	r.name, r.ranks = fmt.Sprintf(r.name, ranks), ranks
	return r
}

// inPanel reports whether a row is a point of the chart of growth.
func inPanel(name string) bool {
	return slices.ContainsFunc(panels(), func(p panel) bool {
		return slices.ContainsFunc(growthRanks(), func(ranks int) bool { return p.at(ranks).name == name })
	})
}

// growthRows are the points of the chart of growth that are no base rows.
func growthRows() (rows []row) {
	base := rowNames(baseRows())
	for _, p := range panels() {
		for _, ranks := range growthRanks() {
			if r := p.at(ranks); !slices.Contains(base, r.name) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// mostRanks is the most ranks with which MPICH runs a benchmark: its processes do not sleep while they
// wait, so that a call takes a time slice of each process that shares the core. A round would take minutes.
func mostRanks(bench string) int {
	switch bench {
	case "barrier", "allreduce", "alltoall":
		return 16
	case "window", "dup":
		return 8
	case "guideline", "waitsome", "proxy":
		return 2
	}
	return math.MaxInt
}

// Measures of the chart of growth in pixels.
const (
	panelWidth   = chartWidth / 3
	panelHeight  = 290
	panelsTop    = 44
	panelLeft    = 66 // room for the times
	panelRight   = 16
	panelTop     = 34 // room for the title
	panelBottom  = 40 // room for the numbers of ranks
	legendOffset = 26 // between two names of the legend
)

// grown are the columns that have a line in the chart of growth: all but Fortran's, which calls the C library.
func (r *results) grown() []string {
	return slices.DeleteFunc(slices.Clone(r.columns), func(c string) bool { return c == fortran })
}

// grows reports whether the run has points of the chart of growth.
func (r *results) grows() bool {
	return slices.ContainsFunc(r.rows, func(rw row) bool { return inPanel(rw.name) })
}

// points are the medians of a column in a panel, one for each number of ranks; NaN without a figure.
func (r *results) points(p *panel, column string) []float64 {
	var us []float64
	for _, ranks := range growthRanks() {
		name, m := p.at(ranks).name, math.NaN()
		if i := slices.IndexFunc(r.rows, func(rw row) bool { return rw.name == name }); i >= 0 {
			m = median(r.figuresOf(column, i))
		}
		us = append(us, m)
	}
	return us
}

// growthChart draws one diagram for each panel: the median time of each MPI against the number of ranks, both
// on logarithmic scales.
func (r *results) growthChart() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	height := panelsTop + 2*panelHeight
	p(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" fill="#222">`,
		chartWidth, height, chartWidth, height)
	p(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	p(`<text x="16" y="26" font-size="16" font-weight="bold">Time against the number of ranks, %s: lower is faster</text>`, html.EscapeString(r.coresText()))
	for i, of := range panels() {
		r.drawPanel(p, &of, float64(i%3*panelWidth), float64(panelsTop+i/3*panelHeight))
	}
	x, y := float64(2*panelWidth+panelLeft), float64(panelsTop+panelHeight+panelTop+16)
	for _, c := range r.grown() {
		p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2"/>`, x, y, x+36, y, marks()[c])
		mark(p, c, x+18, y)
		p(`<text x="%.1f" y="%.1f">%s</text>`, x+46, y+4, html.EscapeString(c))
		y += legendOffset
	}
	p(`<text x="%.1f" y="%.1f" fill="#555">Medians of %d interleaved rounds.</text>`, x, y+4, r.rounds)
	p(`<text x="%.1f" y="%.1f" fill="#555">No mark: no figure.</text>`, x, y+22)
	p(`</svg>`)
	return b.String()
}

// coresText is the number of cores, with which the description of the machine begins.
func (r *results) coresText() string {
	if len(r.machine) == 0 {
		return ""
	}
	cores, _, _ := strings.Cut(r.machine[0], ",")
	return cores
}

// decades are the powers of ten around values; one decade around 1 if there are none.
func decades(values []float64) (low, high int) {
	least, most := spread(values)
	if math.IsNaN(least) {
		return 0, 1
	}
	low, high = int(math.Floor(math.Log10(least))), int(math.Ceil(math.Log10(most)))
	return low, max(high, low+1)
}

// timeText is 10^decade us with its unit.
func timeText(decade int) string {
	unit := "us"
	switch {
	case decade >= 6:
		decade, unit = decade-6, "s"
	case decade >= 3:
		decade, unit = decade-3, "ms"
	}
	return fmt.Sprintf("%g %s", math.Pow10(decade), unit)
}

func (r *results) drawPanel(p func(string, ...any), of *panel, x, y float64) {
	var all []float64
	for _, c := range r.grown() {
		all = append(all, r.points(of, c)...)
	}
	low, high := decades(all)
	ranks := growthRanks()
	left, right, top, bottom := x+panelLeft, x+panelWidth-panelRight, y+panelTop, y+panelHeight-panelBottom
	across := func(k int) float64 { // each number of ranks is twice the one before
		return left + 8 + (right-left-16)*float64(k)/float64(len(ranks)-1)
	}
	up := func(us float64) float64 {
		return bottom - (bottom-top)*(math.Log10(us)-float64(low))/float64(high-low)
	}
	p(`<text x="%.1f" y="%.1f" font-weight="bold">%s</text>`, left, y+22, html.EscapeString(of.title))
	for d := low; d <= high; d++ {
		at := up(math.Pow10(d))
		p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`, left, at, right, at)
		p(`<text x="%.1f" y="%.1f" text-anchor="end" fill="#555">%s</text>`, left-6, at+4, timeText(d))
	}
	for k, n := range ranks {
		p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#eee"/>`, across(k), top, across(k), bottom)
		p(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#555">%d</text>`, across(k), bottom+16, n)
	}
	p(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#555">ranks</text>`, (left+right)/2, bottom+32)
	columns := r.grown()
	slices.Reverse(columns) // Halo's line ends up on top
	for _, c := range columns {
		us, path, pen := r.points(of, c), "", "M"
		for k, v := range us {
			if math.IsNaN(v) {
				pen = "M"
				continue
			}
			path += fmt.Sprintf("%s%.1f %.1f", pen, across(k), up(v))
			pen = "L"
		}
		if path == "" {
			continue
		}
		p(`<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`, path, marks()[c])
		for k, v := range us {
			if !math.IsNaN(v) {
				mark(p, c, across(k), up(v))
			}
		}
	}
}
