package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/cname"
)

// names returns the Go file with the names of all procedures, in the order that cname.Find
// requires.
func (t *tables) names() []byte {
	var list []string
	for _, p := range t.procedures {
		list = append(list, p.Name)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(cname.Plain(a), cname.Plain(b)) })
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage cname\n\n// names are the names of the procedures, each followed by a line feed, ordered by plain name.\nconst names = \"\"", notice)
	for _, name := range list {
		fmt.Fprintf(&b, " +\n\t%q", name+"\n")
	}
	b.WriteByte('\n')
	return b.Bytes()
}
