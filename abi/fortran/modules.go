package fortran

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// Files returns the generated files of the Fortran library: the sources, the modules and mpif.h.
func Files() (map[string][]byte, error) {
	table, err := abi.Constants()
	if err != nil {
		return nil, err
	}
	list, err := constants(table)
	if err != nil {
		return nil, err
	}
	procedures, err := Procedures()
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		"mpif.h":            include(slices.Concat(kindConstants, list)),
		"mpi_types.f90":     typesModule(),
		"mpi_callbacks.f90": callbacksModule(),
		"mpi_sizes.F90":     sizesModule(),
		"mpi.f90":           mpiModule(list, procedures),
		"mpi_f08.f90":       f08Module(list, procedures),
		"sentinels.h":       sentinelsHeader(),
	}
	for _, p := range procedures {
		if text := glue(p); text != "" {
			files[strings.ToLower(p.Name)+".c"] = text
		}
	}
	all := map[string][]byte{}
	for name, text := range files {
		all[name] = []byte(text)
	}
	return all, nil
}

// typesModule returns the module with the handle types, their comparisons, and MPI_Status, which
// mpi and mpi_f08 share.
func typesModule() string {
	var b, bodies strings.Builder
	fmt.Fprintf(&b, "! %s\nMODULE mpi_types\n  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_INT, C_INTPTR_T\n  IMPLICIT NONE\n", notice)
	b.WriteString("  PUBLIC\n  PRIVATE :: C_INT, C_INTPTR_T\n\n" + mpi.parameters(kindConstants) + "\n")
	for _, h := range handles {
		kind := "C_INT"
		if h == syncHandle {
			kind = "C_INTPTR_T"
		}
		fmt.Fprintf(&b, "  TYPE, BIND(C) :: %s\n    INTEGER(%s) :: MPI_VAL\n  END TYPE %s\n\n", h, kind, h)
	}
	b.WriteString("  TYPE, BIND(C) :: MPI_Status\n    INTEGER(C_INT) :: MPI_SOURCE\n    INTEGER(C_INT) :: MPI_TAG\n    INTEGER(C_INT) :: MPI_ERROR\n    INTEGER(C_INT), PRIVATE :: MPI_internal(5)\n  END TYPE MPI_Status\n\n")
	for _, o := range []struct{ operator, name string }{{"==", "equal"}, {"/=", "differ"}} {
		var names []string
		for _, h := range handles {
			name := strings.ToLower(h) + "_" + o.name
			names = append(names, name)
			fmt.Fprintf(&bodies, "\n  ELEMENTAL LOGICAL FUNCTION %s(a, b)\n    TYPE(%s), INTENT(IN) :: a, b\n    %s = a%%MPI_VAL %s b%%MPI_VAL\n  END FUNCTION %s\n", name, h, name, o.operator, name)
		}
		b.WriteString("  INTERFACE OPERATOR(" + o.operator + ")\n" + wrap("    ", "MODULE PROCEDURE "+strings.Join(names, ", ")) + "  END INTERFACE\n")
		for _, n := range names {
			b.WriteString("  PRIVATE :: " + n + "\n")
		}
	}
	return b.String() + "\nCONTAINS\n" + bodies.String() + "END MODULE mpi_types\n"
}

// mpiModule returns the module mpi.
func mpiModule(list []constant, procedures []*Procedure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "! %s\nMODULE mpi\n", notice)
	b.WriteString("  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR\n  USE mpi_types\n  USE mpi_sizes\n  IMPLICIT NONE\n  PUBLIC\n  PRIVATE :: C_PTR\n\n")
	b.WriteString(mpi.parameters(slices.Concat(list, removed, support(mpi))) + mpi.variables())
	b.WriteString("\n  INTERFACE\n")
	for _, p := range predefined {
		b.WriteString(predefinedBody(p.name, mpi))
	}
	b.WriteString("  END INTERFACE\n")
	b.WriteString(interfaces(procedures, mpi))
	return b.String() + "END MODULE mpi\n"
}

// f08Module returns the module mpi_f08.
func f08Module(list []constant, procedures []*Procedure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "! %s\nMODULE mpi_f08\n", notice)
	b.WriteString("  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR, C_ASSOCIATED\n  USE mpi_types\n  USE mpi_callbacks\n  USE mpi_sizes\n  IMPLICIT NONE\n  PUBLIC\n  PRIVATE :: C_PTR, C_ASSOCIATED\n\n")
	b.WriteString(f08.parameters(slices.Concat(list, support(f08))) + f08.variables())
	b.WriteString(interfaces(procedures, f08))
	b.WriteString("\nCONTAINS\n")
	for _, p := range predefined {
		if p.like != "" {
			b.WriteString(predefinedBody(p.name, f08))
		}
	}
	return b.String() + "END MODULE mpi_f08\n"
}

// sentinelsHeader returns the header with the COMMON blocks as C has them.
func sentinelsHeader() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n", notice)
	for _, s := range sentinels {
		fmt.Fprintf(&b, "SENTINEL(%s, %s_, %d)\n", strings.TrimPrefix(s.name, "MPI_"), strings.ToLower(s.block), s.cells)
	}
	return b.String()
}
