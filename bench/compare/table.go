package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// number formats v with three significant digits, but with all digits before the point and at most
// three behind it.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 0):
		return "none"
	case a >= 99.95 || a == 0:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}

// ranged is "low-high" without units.
func ranged(values []float64) string {
	low, high := spread(values)
	if math.IsNaN(low) {
		return "-"
	}
	return number(low) + "-" + number(high)
}

// behindMark precedes the ratio of a row in which a peer is faster.
const behindMark = "*"

// behind reports whether a ratio to the best peer says that the peer is faster.
func (rw *row) behind(ratio float64) bool {
	if rw.more {
		return ratio < 1
	}
	return ratio > 1
}

// met is the last column of a row: "yes", "missed by 12 %", "no figure", or ""
// where there is no bar.
func (r *results) met(i int) string {
	text := ""
	for _, v := range r.verdicts(i) {
		switch {
		case math.IsNaN(v.ratio):
			return "no figure"
		case v.miss > 0:
			if text == "" || text == "yes" {
				text = "missed by "
			} else {
				text += ", "
			}
			if math.IsInf(v.miss, 0) {
				text += "all" // the operations were never complete
			} else {
				text += fmt.Sprintf("%s %%", number(100*v.miss))
			}
		case text == "":
			text = "yes"
		}
	}
	return text
}

// summary counts the bars as performance.md does: a row is missed when one of
// its bars is, and two rows may be missed by up to 25 %.
func (r *results) summary() string {
	barred, met, unknown := 0, 0, 0
	var missed []string
	worst := 0.0
	for i := range r.rows {
		if len(r.rows[i].bars) == 0 {
			continue
		}
		barred++
		switch text := r.met(i); text {
		case "yes":
			met++
		case "no figure":
			unknown++
		default:
			missed = append(missed, r.rows[i].name+" ("+text+")")
			for _, v := range r.verdicts(i) {
				worst = max(worst, v.miss)
			}
		}
	}
	s := fmt.Sprintf("%d of %d rows with a bar meet it", met, barred)
	if unknown > 0 {
		s += fmt.Sprintf(", %d have no figure", unknown)
	}
	if len(missed) > 0 {
		s += "; missed: " + strings.Join(missed, ", ")
		if len(missed) <= 2 && worst <= 0.25 {
			s += " (within the two exceptions of at most 25 % that are allowed)"
		}
	}
	return s + "."
}

// table is the report's rows, the first being the heads. Both forms have the spread
// of the ratio; the long form also has the spread of every figure.
func (r *results) table(long bool) [][]string {
	head := []string{"benchmark", "unit"}
	for _, c := range r.columns {
		head = append(head, c)
		if long {
			head = append(head, "min-max")
		}
	}
	t := [][]string{append(head, "ratio to best peer", "min-max", "limit here", "phase", "bar", "met")}
	for i := range r.rows {
		rw := &r.rows[i]
		cells := []string{rw.name, rw.unit}
		for _, c := range r.columns {
			cells = append(cells, number(median(r.figuresOf(c, i))))
			if long {
				cells = append(cells, ranged(r.figuresOf(c, i)))
			}
		}
		q := r.ratios("halo", i)
		ratio := number(median(q))
		if rw.behind(median(q)) {
			ratio = behindMark + ratio
		}
		cells = append(cells, ratio, ranged(q), number(median(r.within(r.limits[i], i, r.phase(i)))), r.phaseText(i))
		var bars []string
		for _, b := range rw.bars {
			bars = append(bars, rw.barText(b))
		}
		t = append(t, append(cells, strings.Join(bars, ", "), r.met(i)))
	}
	return t
}

// notes are the lines under the table.
func (r *results) notes() []string {
	notes := append([]string(nil), r.machine...)
	s := fmt.Sprintf("%d rounds, interleaved", r.rounds-r.further)
	if r.further > 0 {
		s += fmt.Sprintf(", and %d more of the rows that these left undecided", r.further)
	}
	s += "; figures are medians, ratios are medians of the ratios within a round."
	if r.rounds-r.further < 5 {
		s += " Fewer than 5 rounds: not for quoting."
	}
	if busy := float64(runtime.NumCPU()) / 2; r.load > busy {
		s += fmt.Sprintf(" The machine was busy, load %.1f before the start: not for quoting.", r.load)
	}
	notes = append(notes, s)
	if s := r.phaseNote(); s != "" {
		notes = append(notes, s)
	}
	for _, rw := range r.rows {
		if rw.fabric == "tcp" {
			notes = append(notes, "TCP runs were seen to send their packets through the loopback interface.")
			break
		}
	}
	for _, rw := range r.rows {
		if rw.bench == "passive" {
			notes = append(notes, "passive: a target that computes; none: operations were not complete before it called MPI again.")
			break
		}
	}
	notes = append(notes, r.remarks...)
	notes = append(notes, r.clibraryNotes()...)
	notes = append(notes, r.fortranNotes()...)
	notes = append(notes, r.guidelineNotes()...)
	notes = append(notes, r.proxyNotes()...)
	notes = append(notes, behindMark+" a peer is faster in the median.", r.summary())
	for _, f := range r.failures {
		notes = append(notes, "failed: "+f.String())
	}
	return notes
}

// text is the report for a terminal.
func (r *results) text() string {
	t := r.table(false)
	width := make([]int, len(t[0]))
	for _, cells := range t {
		for k, c := range cells {
			width[k] = max(width[k], len(c))
		}
	}
	last := len(width) - 3 // phase, bar and met are words, like the first two columns
	var b strings.Builder
	for _, cells := range t {
		var s strings.Builder
		for k, c := range cells {
			if k < 2 || k >= last {
				fmt.Fprintf(&s, "%-*s  ", width[k], c)
			} else {
				fmt.Fprintf(&s, "%*s  ", width[k], c)
			}
		}
		b.WriteString(strings.TrimRight(s.String(), " ") + "\n")
	}
	b.WriteString("\n" + strings.Join(r.notes(), "\n") + "\n")
	return b.String()
}

// markdown is the report as a page.
func (r *results) markdown() string {
	return "# Halo beside its peers\n\nWritten by `make bench`. " + r.report("ratios.svg", "growth.svg")
}

// report is the charts, the table and the notes.
func (r *results) report(ratios, growth string) string {
	var b strings.Builder
	b.WriteString("Below 1 Halo is better where the bar says <=, above 1 where it says >=.\n\n")
	b.WriteString("![ratios to the best peer](" + ratios + ")\n\n")
	if r.grows() {
		b.WriteString("![time against the number of ranks](" + growth + ")\n\n")
	}
	for k, cells := range r.table(true) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if k == 0 {
			b.WriteString("|---|---" + strings.Repeat("|--:", len(cells)-5) + "|---|---|---|\n")
		}
	}
	b.WriteString("\n")
	for _, n := range r.notes() {
		b.WriteString("- " + n + "\n")
	}
	return b.String()
}

// writePage writes the report as a page of the documentation, and the charts into the same folder.
func (r *results) writePage(path string) error {
	about := fmt.Sprintf("# Performance\n\nMeasured on %s%s: %s. `make bench` measures again, "+
		"[contributing.md](contributing.md) says how. ", r.began.Format("2 January 2006"), r.revision, r.machine[0])
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	ratios, growth := name+".svg", name+"-growth.svg"
	files := map[string]string{filepath.Base(path): about + r.report(ratios, growth), ratios: r.svg()}
	if r.grows() {
		files[growth] = r.growthChart()
	}
	return writeFiles(filepath.Dir(path), files)
}

// lines is every finite figure and limit of every round, one JSON object a line.
func (r *results) lines() (string, error) {
	type record struct {
		Round  int     `json:"round"`
		Row    string  `json:"row"`
		Column string  `json:"column"`
		Unit   string  `json:"unit"`
		Value  float64 `json:"value"`
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	for i := range r.rows {
		for _, c := range append(append([]string(nil), r.columns...), "limit") {
			values := r.limits[i]
			if c != "limit" {
				values = r.figures[c][i]
			}
			for k, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					continue
				}
				if err := e.Encode(record{k + 1, r.rows[i].name, c, r.rows[i].unit, v}); err != nil {
					return "", err
				}
			}
		}
	}
	return b.String(), nil
}

func (r *results) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lines, err := r.lines()
	if err != nil {
		return err
	}
	files := map[string]string{"results.md": r.markdown(), "ratios.svg": r.svg(), "rounds.jsonl": lines}
	if r.grows() {
		files["growth.svg"] = r.growthChart()
	}
	return writeFiles(dir, files)
}

// writeFiles writes files, by name, into a folder.
func writeFiles(dir string, files map[string]string) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
