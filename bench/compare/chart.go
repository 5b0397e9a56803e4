package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Measures of the chart in pixels.
const (
	chartWidth = 980
	chartLeft  = 210 // row names end here
	chartRight = 250 // room right of the scale, for the figures
	chartTop   = 92
	rowHeight  = 26
)

// Ends of the scale; what lies outside is drawn at the end with its ratio.
const (
	scaleLow  = 0.02
	scaleHigh = 20
)

func marks() map[string]string {
	return map[string]string{"halo": "#0b63c5", clibrary: "#5b9be0", fortran: "#8a4fbf", "mpich": "#d9730d", "openmpi": "#2f8f4e"}
}

// position maps a ratio to pixels.
func position(q float64) float64 {
	q = min(max(q, scaleLow), scaleHigh)
	return chartLeft + (chartWidth-chartLeft-chartRight)*math.Log(q/scaleLow)/math.Log(scaleHigh/scaleLow)
}

// timeRatios is how much time a column takes compared with the best peer: for
// rates the inverse of the figures' ratio, so that left is always faster.
func (r *results) timeRatios(column string, i int) []float64 {
	q := append([]float64(nil), r.ratios(column, i)...)
	if r.rows[i].more {
		for k := range q {
			q[k] = 1 / q[k]
		}
	}
	return q
}

// svg draws one line per row: time of each MPI as a multiple of the best
// peer's, on a logarithmic scale, Halo with its spread, and the bar.
func (r *results) svg() string {
	var b strings.Builder
	bottom := chartTop + rowHeight*len(r.rows)
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" fill="#222">`,
		chartWidth, bottom+44, chartWidth, bottom+44)
	p(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	p(`<text x="16" y="26" font-size="16" font-weight="bold">Time as a multiple of the best peer&#8217;s: left is faster</text>`)
	r.legend(p)
	for _, q := range []float64{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20} {
		colour, width := "#ddd", 1.0
		if q == 1 {
			colour, width = "#555", 1.5
		}
		p(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" stroke-width="%g"/>`, position(q), chartTop-6, position(q), bottom, colour, width)
		p(`<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%g</text>`, position(q), chartTop-12, q)
		p(`<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%g</text>`, position(q), bottom+16, q)
	}
	p(`<text x="%d" y="%d" fill="#555">%s</text>`, chartWidth-chartRight+16, chartTop-12, html.EscapeString(strings.Join(r.columns, " | ")))
	for i := range r.rows {
		r.chartRow(p, i, float64(chartTop+rowHeight*i)+rowHeight/2)
	}
	p(`<text x="16" y="%d" fill="#555">Medians of %d interleaved rounds; for rates the inverse ratio. A triangle at an end of the scale: beyond it.</text>`, bottom+36, r.rounds)
	p(`</svg>`)
	return b.String()
}

func (r *results) legend(p func(string, ...any)) {
	x := 20.0
	for _, c := range r.columns {
		mark(p, c, x, 48)
		p(`<text x="%.0f" y="52">%s</text>`, x+10, html.EscapeString(c))
		x += 90
	}
	p(`<line x1="%.0f" y1="40" x2="%.0f" y2="56" stroke="#c01c28" stroke-width="3"/>`, x, x)
	p(`<text x="%.0f" y="52">bar for halo, against the best peer</text>`, x+10)
}

func (r *results) chartRow(p func(string, ...any), i int, y float64) {
	rw := &r.rows[i]
	if i%2 == 0 {
		p(`<rect x="0" y="%.1f" width="%d" height="%d" fill="#000" fill-opacity="0.03"/>`, y-rowHeight/2, chartWidth, rowHeight)
	}
	p(`<text x="%d" y="%.1f" text-anchor="end">%s</text>`, chartLeft-12, y+4, html.EscapeString(rw.name))
	for _, v := range rw.bars {
		if v.of == "best" {
			at := v.factor
			if rw.more {
				at = 1 / at
			}
			p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#c01c28" stroke-width="3"/>`, position(at), y-11, position(at), y+11)
		}
	}
	var figures []string
	for k := range r.columns {
		c := r.columns[len(r.columns)-1-k] // Halo's mark ends up on top
		q := r.timeRatios(c, i)
		m := median(q)
		figures = append([]string{number(median(r.figuresOf(c, i)))}, figures...)
		times := number(m) + "x"
		if math.IsInf(m, 1) {
			times = "never"
		}
		if math.IsNaN(m) {
			continue
		}
		if low, high := spread(q); c == "halo" {
			p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2"/>`, position(low), y, position(high), y, marks()[c])
		}
		switch {
		case m > scaleHigh:
			x := position(m)
			p(`<path d="M%.1f %.1fl9 5l-9 5z" fill="%s"/>`, x-4, y-5, marks()[c])
			p(`<text x="%.1f" y="%.1f" text-anchor="end" fill="%s">%s</text>`, x-8, y+4, marks()[c], times)
		case m < scaleLow:
			x := position(m)
			p(`<path d="M%.1f %.1fl-9 5l9 5z" fill="%s"/>`, x+4, y-5, marks()[c])
			p(`<text x="%.1f" y="%.1f" fill="%s">%s</text>`, x+8, y+4, marks()[c], times)
		default:
			mark(p, c, position(m), y)
		}
	}
	p(`<text x="%d" y="%.1f">%s %s</text>`, chartWidth-chartRight+16, y+4, strings.Join(figures, " | "), rw.unit)
}

// mark is a disc for Halo, a ring for its C library and a small one for that in Fortran, a square for
// MPICH and a diamond for Open MPI, so that they differ without colours.
func mark(p func(string, ...any), column string, x, y float64) {
	colour := marks()[column]
	switch column {
	case "halo":
		p(`<circle cx="%.1f" cy="%.1f" r="5.5" fill="%s"/>`, x, y, colour)
	case clibrary:
		p(`<circle cx="%.1f" cy="%.1f" r="4" fill="#fff" stroke="%s" stroke-width="2"/>`, x, y, colour)
	case fortran:
		p(`<circle cx="%.1f" cy="%.1f" r="2.5" fill="#fff" stroke="%s" stroke-width="2"/>`, x, y, colour)
	case "mpich":
		p(`<rect x="%.1f" y="%.1f" width="9" height="9" fill="#fff" stroke="%s" stroke-width="2"/>`, x-4.5, y-4.5, colour)
	default:
		p(`<path d="M%.1f %.1fl6 6l-6 6l-6 -6z" fill="#fff" stroke="%s" stroke-width="2"/>`, x, y-6, colour)
	}
}
