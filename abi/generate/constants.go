package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

// goConstants returns the Go file with the handles of the predefined types and the numbers of the
// callback types.
func (t *tables) goConstants() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage bind\n\n// predefinedTypes are the predefined types with their handles.\nvar predefinedTypes = [...]struct {\n\thandle handle\n\tname string\n}{\n", notice)
	for _, c := range t.constants {
		if c.Type == "MPI_Datatype" && c.Name != "MPI_DATATYPE_NULL" {
			fmt.Fprintf(&b, "\t{%s, %q},\n", c.Value, c.Name)
		}
	}
	b.WriteString("}\n\n// The numbers of the callback types, which are the rows of callbacks.csv.\nconst (\n")
	for i, c := range t.callbacks {
		fmt.Fprintf(&b, "\tcall%s = %d\n", strings.TrimPrefix(strings.TrimPrefix(c.Name, "MPIX_"), "MPI_"), i)
	}
	b.WriteString(")\n")
	return format.Source(b.Bytes())
}
