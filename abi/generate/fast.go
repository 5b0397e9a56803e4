package main

import (
	"bytes"
	"fmt"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// fastLayout returns the header with the offsets of fields that C accesses without entering Go.
func fastLayout() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n#ifndef HALO_FAST_LAYOUT_H\n#define HALO_FAST_LAYOUT_H\n\n", notice)
	b.WriteString("/* Constants, in bytes, of internal/mem and internal/op. */\n")
	definitions(&b, []shmfmt.Field{
		{Name: "FIRST_PAGE", Value: mem.FirstPage},
		{Name: "KERNEL_BLOCK", Value: op.Block},
		{Name: "KERNEL_PIECE", Value: op.SweepPiece},
	})
	b.WriteString("\n")
	b.WriteString("/* Offsets of fields in bytes, and constants, of internal/shmfmt and internal/rma. */\n")
	layout(&b, "HALO_LAYOUT", rma.DescriptorLayout())
	b.WriteString("/* Offsets of fields in records of internal/shmfmt, and constants of internal/coll. */\n")
	layout(&b, "HALO_COLL_LAYOUT", coll.DescriptorLayout())
	b.WriteString("/* Offsets of fields in records of internal/shmfmt, and constants of internal/p2p. */\n")
	layout(&b, "HALO_MESSAGE_LAYOUT", p2p.DescriptorLayout())
	b.WriteString("/* Offsets of fields in records of internal/shmfmt, and constants of internal/dtype. */\n")
	layout(&b, "HALO_TYPE_LAYOUT", dtype.DescriptorLayout())
	b.WriteString("/* Offsets of fields in the record of a file, and bits in it, of internal/shmfmt. */\n")
	layout(&b, "HALO_FILE_LAYOUT", file.DescriptorLayout())
	b.WriteString("#endif\n")
	return b.Bytes()
}

// layout writes a definition of each field, and of the number of the layout.
func layout(b *bytes.Buffer, number string, fields []shmfmt.Field) {
	definitions(b, fields)
	fmt.Fprintf(b, "\n/* The number of this layout. C uses a record only if Go passes the same number. */\n#define %s %#xu\n\n", number, shmfmt.LayoutNumber(fields))
}

func definitions(b *bytes.Buffer, fields []shmfmt.Field) {
	for _, f := range fields {
		suffix := ""
		if f.Value > 1<<31-1 {
			suffix = "u"
		}
		fmt.Fprintf(b, "#define HALO_%-24s %d%s\n", f.Name, f.Value, suffix)
	}
}
