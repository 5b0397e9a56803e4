package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/op"
)

// printOperations writes which reductions are defined on which types, and the kernel for them: that
// of the environment, or else the best of this machine.
func printOperations(out io.Writer, get func(string) string) error {
	c, err := choice.FromEnv(get)
	if err != nil {
		return err
	}
	var here []string
	for _, k := range op.Kernels() {
		here = append(here, k.String())
	}
	fmt.Fprintf(out, `
Operations of reductions, with the kernel that does them (of %s here; go is
loops) and the types of elements. Replace and NoOp are for one-sided communication.

`, strings.Join(here, ", "))
	for o := op.Op(1); int(o) <= op.Ops; o++ {
		var lists [2][]string // by loops; by the kernel
		for _, t := range op.All() {
			if !o.Accumulates(t) {
				continue
			}
			i := 0
			if c.Kernel.Covers(o, t) {
				i = 1
			}
			lists[i] = append(lists[i], t.String())
		}
		name := o.String()
		for i, k := range []op.Kernel{c.Kernel, op.Loops} {
			list := lists[1-i]
			if len(list) == 0 {
				continue
			}
			what := strings.Join(list, ", ")
			if o == op.Replace || o == op.NoOp {
				what = "all types, by copying"
			}
			fmt.Fprintf(out, "  %-8s %-7s %s\n", name, k, what)
			name = ""
		}
	}
	return nil
}
