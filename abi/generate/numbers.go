package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/abi"
	"github.com/halo-mpi/halo/internal/cname"
)

// numbers returns the Go file with the numbers and the names of all calls: first the procedures in
// the order that cname.Find requires, then the others.
func (t *tables) numbers() []byte {
	var list []abi.Call
	for _, p := range t.procedures {
		list = append(list, abi.Call{Identifier: p.Identifier(), Go: p.Go, C: p.Name})
	}
	slices.SortFunc(list, func(a, b abi.Call) int { return cmp.Compare(cname.Plain(a.C), cname.Plain(b.C)) })
	last := list[len(list)-1].Identifier
	list = append(list, t.calls...)
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage call\n\n// The calls. A constant has the name of the procedure in C, without the prefix and the underscores.\nconst (\n\tNone Number = iota\n", notice)
	for _, c := range list {
		fmt.Fprintf(&b, "\t%s\n", c.Identifier)
	}
	fmt.Fprintf(&b, "\n\t// Procedures is the number of the procedures: they are 1 to Procedures. Other calls follow.\n\tProcedures = %s\n)\n", last)
	writeTexts(&b, "go", "in Go", list, func(c abi.Call) string { return c.Go })
	writeTexts(&b, "c", `in C, "" of calls without one,`, list, func(c abi.Call) string { return c.C })
	return b.Bytes()
}

// writeTexts writes the names of the calls as one text, and where each begins in it, as two bytes
// with the low one first. The first of these is that of None, and the last is the length of the text.
func writeTexts(b *bytes.Buffer, language, what string, list []abi.Call, name func(abi.Call) string) {
	var begins strings.Builder
	fmt.Fprintf(b, "\n// %sNames are the names %s in the order of the numbers.\nconst %sNames = \"\"", language, what, language)
	begins.WriteString("\\x00\\x00")
	at := 0
	for _, c := range list {
		if n := name(c); n != "" {
			fmt.Fprintf(b, " +\n\t%q", n)
		}
		fmt.Fprintf(&begins, "\\x%02x\\x%02x", at&0xff, at>>8)
		at += len(name(c))
	}
	fmt.Fprintf(&begins, "\\x%02x\\x%02x", at&0xff, at>>8)
	fmt.Fprintf(b, "\n\n// %sBegins are the offsets of the names in %sNames, in two bytes each.\nconst %sBegins = \"\"", language, language, language)
	for text := begins.String(); text != ""; {
		n := min(len(text), 16*8)
		fmt.Fprintf(b, " +\n\t\"%s\"", text[:n])
		text = text[n:]
	}
	b.WriteByte('\n')
}
