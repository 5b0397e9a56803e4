package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/internal/dtype"
)

// typesWidth is the length in columns that lines of names are kept to.
const typesWidth = 92

// printTypes writes the predefined datatypes by their size on this machine, with
// the extent where padding makes it another.
func printTypes(out io.Writer) {
	bySize := map[int64][]string{}
	dtype.Predefined().Each(func(_ dtype.ID, t *dtype.Type) {
		name := t.Name()
		if _, extent := t.Extent(); extent != t.Size() {
			name = fmt.Sprintf("%s (extent %d)", name, extent)
		}
		bySize[t.Size()] = append(bySize[t.Size()], name)
	})
	fmt.Fprint(out, `
Predefined datatypes of C and Fortran by their size in bytes, with the extent where
elements lie further apart.

`)
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		head, line := fmt.Sprintf("  %2d  ", size), ""
		names := bySize[size]
		for i, name := range names {
			if i < len(names)-1 {
				name += ","
			}
			if line != "" && len(head)+len(line)+1+len(name) > typesWidth {
				fmt.Fprintln(out, head+line)
				head, line = strings.Repeat(" ", len(head)), ""
			}
			if line != "" {
				line += " "
			}
			line += name
		}
		fmt.Fprintln(out, head+line)
	}
}
