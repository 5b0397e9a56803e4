package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/abi"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/cname"
)

// numbers returns the Go file with the numbers and the names of all calls: first the procedures in
// the order that cname.Find requires, then the others.
func (t *tables) numbers() ([]byte, error) {
	var list []abi.Call
	for _, p := range t.procedures {
		list = append(list, abi.Call{Identifier: p.Identifier(), Go: p.Go, C: p.Name, Traits: p.Traits})
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
	if err := writeTraits(&b, list); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

// trait returns the constant of package call for a word of the tables.
func trait(word string) (call.Trait, error) {
	switch word {
	case "message":
		return call.Message, nil
	case "source":
		return call.Source, nil
	case "once":
		return call.Once, nil
	case "persistent":
		return call.Persistent, nil
	case "collective":
		return call.Collective, nil
	case "window":
		return call.Window, nil
	}
	return 0, fmt.Errorf("no trait of calls is named %q", word)
}

// writeTraits writes the traits of the calls as one text, of one byte for each. The first one is that of None.
func writeTraits(b *bytes.Buffer, list []abi.Call) error {
	var text strings.Builder
	text.WriteString("\\x00")
	for _, c := range list {
		var all call.Trait
		for _, word := range c.Traits {
			t, err := trait(word)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Identifier, err)
			}
			all |= t
		}
		fmt.Fprintf(&text, "\\x%02x", all)
	}
	fmt.Fprintf(b, "\n// traits are the traits of the calls in the order of the numbers.\nconst traits = \"\"")
	writeBytes(b, text.String())
	return nil
}

// writeBytes writes a text of escapes of four characters in lines.
func writeBytes(b *bytes.Buffer, text string) {
	for text != "" {
		n := min(len(text), 16*8)
		fmt.Fprintf(b, " +\n\t\"%s\"", text[:n])
		text = text[n:]
	}
	b.WriteByte('\n')
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
	writeBytes(b, begins.String())
}
