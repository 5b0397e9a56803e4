package main

import (
	"bytes"
	"fmt"
	"strings"
)

// roff writes a page of the manual in the language of man(7).
type roff struct{ b bytes.Buffer }

func (r *roff) text() []byte { return r.b.Bytes() }

func (r *roff) raw(text string) { r.b.WriteString(text) }

// title begins a page.
func (r *roff) title(name string, section int) {
	fmt.Fprintf(&r.b, ".\\\" %s\n.TH \"%s\" %d \"\" \"Halo\" \"MPI in Go and C\"\n", notice, escape(name), section)
}

func (r *roff) section(name string) { fmt.Fprintf(&r.b, ".SH %s\n", escape(name)) }

// line writes text that the formatter fills into lines.
func (r *roff) line(text string) { r.raw(start(escape(strings.TrimSpace(text))) + "\n") }

func (r *roff) paragraph(text string) {
	r.raw(".PP\n")
	r.line(text)
}

// bold writes lines in bold.
func (r *roff) bold(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(&r.b, "\\fB%s\\fP\n", escape(line))
	}
}

// verbatim writes lines that are not filled.
func (r *roff) verbatim(text string) {
	r.raw(".nf\n")
	for line := range strings.SplitSeq(text, "\n") {
		r.raw(start(escape(line)) + "\n")
	}
	r.raw(".fi\n")
}

// item writes a parameter.
func (r *roff) item(name, direction, text string) {
	if direction != "" {
		direction = " (" + direction + ")"
	}
	fmt.Fprintf(&r.b, ".TP\n\\fI%s\\fP%s\n", escape(name), direction)
	r.line(text)
}

// escape escapes the special characters of roff. A hyphen becomes a minus, so that readers can search
// for and copy the text.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`).Replace(text)
}

// start protects a line that begins like a roff request.
func start(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
