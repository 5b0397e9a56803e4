package fortran

import (
	"fmt"
	"strings"
)

// sizesModule returns the module with MPI_SIZEOF, which has one procedure for each type. Types that
// not all compilers have are left out unless a macro says otherwise: abi/fortran/build defines it.
func sizesModule() string {
	type numeric struct{ kind, name, macro string }
	types := []numeric{{"CHARACTER(LEN=*)", "character", ""}}
	for _, n := range []int{1, 2, 4, 8, 16} {
		macro := ""
		if n == 16 {
			macro = "HAVE_INTEGER16"
		}
		types = append(types,
			numeric{fmt.Sprintf("INTEGER(KIND=%d)", n), fmt.Sprintf("integer%d", n), macro},
			numeric{fmt.Sprintf("LOGICAL(KIND=%d)", n), fmt.Sprintf("logical%d", n), macro})
	}
	for _, n := range []int{2, 4, 8, 10, 16} {
		macro := ""
		if n != 4 && n != 8 {
			macro = fmt.Sprintf("HAVE_REAL%d", n)
		}
		types = append(types,
			numeric{fmt.Sprintf("REAL(KIND=%d)", n), fmt.Sprintf("real%d", n), macro},
			numeric{fmt.Sprintf("COMPLEX(KIND=%d)", n), fmt.Sprintf("complex%d", n), macro})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "! %s\nMODULE mpi_sizes\n  IMPLICIT NONE\n  PRIVATE\n  PUBLIC :: MPI_SIZEOF, PMPI_SIZEOF\n", notice)
	each := func(write func(numeric)) {
		for _, t := range types {
			if t.macro != "" {
				b.WriteString("#ifdef " + t.macro + "\n")
			}
			write(t)
			if t.macro != "" {
				b.WriteString("#endif\n")
			}
		}
	}
	for _, name := range []string{"MPI_SIZEOF", "PMPI_SIZEOF"} {
		fmt.Fprintf(&b, "\n  INTERFACE %s\n", name)
		each(func(t numeric) { fmt.Fprintf(&b, "    MODULE PROCEDURE sizeof_%s\n", t.name) })
		fmt.Fprintf(&b, "  END INTERFACE %s\n", name)
	}
	b.WriteString("\nCONTAINS\n")
	each(func(t numeric) {
		fmt.Fprintf(&b, "\n  SUBROUTINE sizeof_%s(x, size, ierror)\n    %s, INTENT(IN) :: x(..)\n", t.name, t.kind)
		b.WriteString("    INTEGER, INTENT(OUT) :: size\n    INTEGER, OPTIONAL, INTENT(OUT) :: ierror\n    size = STORAGE_SIZE(x) / 8\n    IF (PRESENT(ierror)) ierror = 0\n")
		fmt.Fprintf(&b, "  END SUBROUTINE sizeof_%s\n", t.name)
	})
	return b.String() + "\nEND MODULE mpi_sizes\n"
}
