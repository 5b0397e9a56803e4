package benchmark

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// figure is a diagram of one experiment over one fabric: time against size or number of
// workers, both on logarithmic scales, a line for each series.
type figure struct {
	exp    Experiment
	fabric string
	points []Point // of this experiment and fabric

	left, right float64 // logarithms at the ends of the X axis
	low, high   float64
}

// Sizes in pixels: of a figure, and of the margins around the diagram in it.
const (
	figureWidth, figureHeight = 820, 430
	roomLeft, roomRight       = 78, 280 // right: the legend
	roomTop, roomBottom       = 54, 62
)

// colours returns the colours of the series, in order, with contrast to white and to black.
func colours() []string {
	return []string{"#2f7ed8", "#d9730d", "#2f9e55", "#a05bd0", "#d64550", "#159a9c"}
}

// figureStyle gives text and grid the colours of the page, light or dark.
const figureStyle = `<style>text{font-family:sans-serif;font-size:13px;fill:#222}.head{font-size:15px;font-weight:bold}` +
	`.page{fill:#fff}.grid{stroke:#ddd}.axis{stroke:#555;fill:none}.limit{stroke:#c01c28;stroke-dasharray:6 4}` +
	`@media(prefers-color-scheme:dark){text{fill:#ddd}.page{fill:#15181c}.grid{stroke:#333a42}.axis{stroke:#999}.limit{stroke:#ff6b6b}}</style>`

// svg draws the figure.
func (f *figure) svg() string {
	f.scale()
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`, figureWidth, figureHeight, figureWidth, figureHeight)
	p(`<title>%s over %s</title>`, html.EscapeString(f.exp.Title), f.fabric)
	p(figureStyle)
	p(`<rect class="page" width="100%%" height="100%%"/>`)
	p(`<text class="head" x="16" y="28">%s: %s, over %s</text>`, f.exp.ID, html.EscapeString(f.exp.Title), f.fabric)
	f.axes(p)
	if y := math.Log10(f.exp.Limit); f.exp.Limit > 0 {
		p(`<line class="limit" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, roomLeft, figureWidth-roomRight, f.y(y), f.y(y))
		p(`<text x="%d" y="%.1f" text-anchor="end">t/n = %g us</text>`, figureWidth-roomRight-6, f.y(y)-6, f.exp.Limit)
	}
	for i, name := range f.series() {
		f.line(p, i, name)
	}
	p(`</svg>`)
	return b.String()
}

// series returns the names of the series, in the order in which they were measured.
func (f *figure) series() []string {
	var names []string
	for _, p := range f.points {
		if !slices.Contains(names, p.Series) {
			names = append(names, p.Series)
		}
	}
	return names
}

// columns returns the values of X, ascending.
func (f *figure) columns() []float64 {
	var xs []float64
	for _, p := range f.points {
		xs = append(xs, p.X)
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// at returns the position of x on its axis, before scaling.
func (f *figure) at(x float64) float64 {
	if f.exp.Groups != nil {
		return x
	}
	return math.Log10(x)
}

// scale finds the ends of the axes: the first and last X, and whole powers of ten.
func (f *figure) scale() {
	xs := f.columns()
	f.left, f.right = f.at(xs[0]), f.at(xs[len(xs)-1])
	if f.exp.Groups != nil {
		f.left, f.right = -0.5, float64(len(f.exp.Groups))-0.5
	} else if f.left == f.right {
		f.left, f.right = f.left-0.5, f.right+0.5
	}
	f.low, f.high = math.Inf(1), math.Inf(-1)
	for _, p := range f.points {
		f.low, f.high = min(f.low, math.Log10(p.US)), max(f.high, math.Log10(p.US))
	}
	if f.exp.Limit > 0 {
		f.low, f.high = min(f.low, math.Log10(f.exp.Limit)), max(f.high, math.Log10(f.exp.Limit))
	}
	f.low, f.high = math.Floor(f.low), math.Ceil(f.high+1e-9)
	if f.low == f.high {
		f.high++
	}
}

func (f *figure) x(v float64) float64 {
	return roomLeft + (v-f.left)/(f.right-f.left)*(figureWidth-roomLeft-roomRight)
}

func (f *figure) y(v float64) float64 {
	return figureHeight - roomBottom - (v-f.low)/(f.high-f.low)*(figureHeight-roomTop-roomBottom)
}

func (f *figure) axes(p func(string, ...any)) {
	const bottom, end = figureHeight - roomBottom, figureWidth - roomRight
	for e := f.low; e <= f.high; e++ {
		p(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, roomLeft, end, f.y(e), f.y(e))
		p(`<text x="%d" y="%.1f" text-anchor="end">%s</text>`, roomLeft-8, f.y(e)+4, plain(math.Pow(10, e)))
	}
	if f.exp.Groups != nil {
		for i, name := range f.exp.Groups {
			p(`<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, f.x(float64(i)), bottom+20, html.EscapeString(name))
		}
	} else {
		for _, v := range f.columns() {
			x := f.x(f.at(v))
			p(`<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, x, x, roomTop, bottom)
			p(`<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x, bottom+20, amount(v))
		}
	}
	p(`<path class="axis" d="M%d %dV%dH%d"/>`, roomLeft, roomTop, bottom, end)
	p(`<text x="%d" y="%d" text-anchor="middle">%s</text>`, (roomLeft+end)/2, figureHeight-16, html.EscapeString(f.exp.XLabel))
	p(`<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">latency in us</text>`, (roomTop+bottom)/2)
}

// line draws one series and its entry of the legend.
func (f *figure) line(p func(string, ...any), i int, name string) {
	colour := colours()[i%len(colours())]
	dash := [...]string{"", ` stroke-dasharray="7 4"`, ` stroke-dasharray="2 4"`}[i/len(colours())%3]
	var path strings.Builder
	for _, q := range f.points {
		if q.Series != name {
			continue
		}
		x, y := f.x(f.at(q.X)), f.y(math.Log10(q.US))
		if path.Len() == 0 {
			fmt.Fprintf(&path, "M%.1f %.1f", x, y)
		} else {
			fmt.Fprintf(&path, "L%.1f %.1f", x, y)
		}
		mark(p, i, x, y, colour)
	}
	if f.exp.Groups == nil {
		p(`<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`, path.String(), colour, dash)
	}
	x, y := float64(figureWidth-roomRight+22), float64(roomTop+10+22*i)
	if f.exp.Groups == nil {
		p(`<path d="M%.0f %.0fh24" stroke="%s" stroke-width="2"%s/>`, x-6, y, colour, dash)
	}
	mark(p, i, x+6, y, colour)
	p(`<text x="%.0f" y="%.0f" font-size="12">%s</text>`, x+26, y+4, html.EscapeString(name))
}

// mark draws a point, with a shape that distinguishes series without colours.
func mark(p func(string, ...any), i int, x, y float64, colour string) {
	switch i % 4 {
	case 0:
		p(`<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`, x, y, colour)
	case 1:
		p(`<rect x="%.1f" y="%.1f" width="8" height="8" fill="%s"/>`, x-4, y-4, colour)
	case 2:
		p(`<path d="M%.1f %.1fl5 9h-10z" fill="%s"/>`, x, y-5, colour)
	default:
		p(`<path d="M%.1f %.1fl5 5l-5 5l-5-5z" fill="%s"/>`, x, y-5, colour)
	}
}

// amount formats a number of bytes or workers, with a unit prefix.
func amount(v float64) string {
	switch {
	case v >= 1<<20:
		return fmt.Sprintf("%gMi", v/(1<<20))
	case v >= 1<<10:
		return fmt.Sprintf("%gKi", v/(1<<10))
	}
	return fmt.Sprintf("%g", v)
}

// plain formats a number without an exponent, with three significant digits.
func plain(v float64) string {
	if math.IsNaN(v) {
		return "NaN"
	}
	if v >= 100 || v == 0 {
		return fmt.Sprintf("%.0f", v)
	}
	digits := max(0, 2-int(math.Floor(math.Log10(v))))
	s := fmt.Sprintf("%.*f", digits, v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
