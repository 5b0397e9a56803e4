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

// line writes text that is filled into lines.
func (r *roff) line(text string) { r.raw(start(escape(strings.TrimSpace(text))) + "\n") }

func (r *roff) paragraph(text string) {
	r.raw(".PP\n")
	r.line(text)
}

// bold writes lines as they are.
func (r *roff) bold(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(&r.b, "\\fB%s\\fP\n", escape(line))
	}
}

// verbatim writes lines as they are.
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

// escape has characters mean themselves: a hyphen of C is a minus, or it could not be
// searched for and copied.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`).Replace(text)
}

// start keeps a line from being taken for a request.
func start(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
