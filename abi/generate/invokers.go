package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// invokers returns the C file that calls callbacks of the program, with one case for each row of
// callbacks.csv, by its number.
func (t *tables) invokers() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n#include \"callbacks.h\"\n\n#include <stddef.h>\n\n#include \"../include/mpi.h\"\n#include \"word.h\"\n\nint haloInvoke(int callback, uintptr_t function, word *words) {\n\tswitch (callback) {\n", notice)
	for i, c := range t.callbacks {
		if strings.HasPrefix(c.Name, "MPI_T_") {
			continue
		}
		var before, args, after strings.Builder
		for k, p := range c.Params {
			if k > 0 {
				args.WriteString(", ")
			}
			switch local := localOf(p); {
			case p.Name == "":
				args.WriteString("NULL")
			case local != "":
				fmt.Fprintf(&before, "\t\t%s x%d = (%s)words[%d];\n", local, k, local, k)
				fmt.Fprintf(&args, "&x%d", k)
				fmt.Fprintf(&after, "\t\twords[%d] = W(x%d);\n", k, k)
			case p.Stars > 0:
				fmt.Fprintf(&args, "(%s *)words[%d]", p.Base, k)
			default:
				fmt.Fprintf(&args, "(%s)words[%d]", p.Base, k)
			}
		}
		call := fmt.Sprintf("((%s *)function)(%s)", c.Name, args.String())
		fmt.Fprintf(&b, "\tcase %d: {\n%s", i, before.String())
		if c.Returns == "void" {
			fmt.Fprintf(&b, "\t\t%s;\n%s\t\treturn 0;\n\t}\n", call, after.String())
		} else {
			fmt.Fprintf(&b, "\t\tint result = %s;\n%s\t\treturn result;\n\t}\n", call, after.String())
		}
	}
	b.WriteString("\t}\n\treturn MPI_ERR_INTERN;\n}\n")
	return b.Bytes()
}

// localOf returns the type of the local variable for a parameter that points to a number or handle,
// which is passed in a word and read back into it. It returns "" for pointers to other memory.
func localOf(p abi.Param) string {
	switch {
	case p.Name == "attribute_val_out":
		return "void *"
	case p.Stars == 1 && p.Base != "void" && p.Base != "MPI_Status":
		return p.Base
	}
	return ""
}
