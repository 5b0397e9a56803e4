package main

import (
	"bytes"
	"fmt"

	"github.com/halo-mpi/halo/internal/rma"
)

// fastLayout is the header with where things are that C looks at without Go.
func fastLayout() []byte {
	var b bytes.Buffer
	fields := rma.DescriptorLayout()
	fmt.Fprintf(&b, "/* %s */\n#ifndef HALO_FAST_LAYOUT_H\n#define HALO_FAST_LAYOUT_H\n\n", notice)
	b.WriteString("/* Places in bytes, and constants, of internal/rma, internal/apply and internal/shmfmt. */\n")
	for _, f := range fields {
		suffix := ""
		if f.Value > 1<<31-1 {
			suffix = "u"
		}
		fmt.Fprintf(&b, "#define HALO_%-24s %d%s\n", f.Name, f.Value, suffix)
	}
	fmt.Fprintf(&b, "\n/* The number of this layout: Go has to give the same. */\n#define HALO_LAYOUT %#xu\n\n#endif\n", rma.LayoutNumber(fields))
	return b.Bytes()
}
