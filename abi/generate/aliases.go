package main

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// aliases returns the part of mpi.h that defines the extensions under the names of their
// proposals, without X, which the standard may use one day. Programs must ask for these names.
func (t *tables) aliases() string {
	var b strings.Builder
	b.WriteString("\n/* The extensions under names without X, for programs that define HALO_MPI_NAMES. */\n#ifdef HALO_MPI_NAMES\n")
	alias := func(name string) {
		if of, ok := strings.CutPrefix(name, "MPIX_"); ok {
			fmt.Fprintf(&b, "#define %-34s %s\n", "MPI_"+of, name)
		}
	}
	alias("MPIX_Sync")
	for _, c := range t.constants {
		alias(c.Name)
	}
	for _, p := range t.procedures {
		for _, q := range []*abi.Procedure{p, p.Large} {
			if q != nil {
				alias(q.Name)
			}
		}
	}
	b.WriteString("#define MPI_Sync_counter_c2f               MPIX_Sync_c2f\n#define MPI_Sync_counter_f2c               MPIX_Sync_f2c\n#endif\n")
	return b.String()
}
