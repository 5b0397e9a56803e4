package fortran

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// constant is a constant of Fortran.
type constant struct {
	name  string
	kind  string // type in the module mpi and in mpif.h
	typ   string // handle type in mpi_f08, or ""
	value string
}

// kindConstants are in the module mpi_types: all others use them.
var kindConstants = []constant{
	{"MPI_ADDRESS_KIND", "INTEGER", "", "8"},
	{"MPI_COUNT_KIND", "INTEGER", "", "8"},
	{"MPI_INTEGER_KIND", "INTEGER", "", "4"},
	{"MPI_OFFSET_KIND", "INTEGER", "", "8"},
	{"MPI_STATUS_SIZE", "INTEGER", "", "8"},
	{"MPI_SOURCE", "INTEGER", "", "1"},
	{"MPI_TAG", "INTEGER", "", "2"},
	{"MPI_ERROR", "INTEGER", "", "3"},
}

// support returns the constants that say what a method can do.
func support(m method) []constant {
	value := ".FALSE."
	if m == f08 {
		value = ".TRUE."
	}
	return []constant{
		{"MPI_SUBARRAYS_SUPPORTED", "LOGICAL", "", value},
		{"MPI_ASYNC_PROTECTS_NONBLOCKING", "LOGICAL", "", value},
	}
}

// removed are constants that MPI-3.0 has removed: no call returns them, but programs compare with them.
var removed = []constant{
	{"MPI_COMBINER_HVECTOR_INTEGER", "INTEGER", "", "-101"},
	{"MPI_COMBINER_HINDEXED_INTEGER", "INTEGER", "", "-102"},
	{"MPI_COMBINER_STRUCT_INTEGER", "INTEGER", "", "-103"},
}

// constants returns the constants of the table that Fortran has: no addresses, no functions, none
// of the tools' interface.
func constants(table []abi.Constant) ([]constant, error) {
	byName := map[string]abi.Constant{}
	for _, c := range table {
		byName[c.Name] = c
	}
	var list []constant
	for _, c := range table {
		name := c.Name
		for c.Type == "alias" {
			c = byName[c.Value]
		}
		if strings.HasPrefix(name, "MPI_T_") && !strings.HasPrefix(name, "MPI_T_ERR_") || strings.HasPrefix(name, "MPI_F_") || strings.HasSuffix(c.Type, "*") {
			continue
		}
		n, ok := c.Int()
		if !ok {
			return nil, fmt.Errorf("constants.csv: %s: %q is no number", name, c.Value)
		}
		k := constant{name: name, kind: "INTEGER", value: fmt.Sprint(n)}
		switch {
		case c.Type == "MPI_Offset":
			k.kind, k.value = "INTEGER(KIND=MPI_OFFSET_KIND)", fmt.Sprintf("%d_MPI_OFFSET_KIND", n)
		case c.Type == "integer" && strings.Contains(name, "_MAX_") && name != "MPIX_MAX_MEMORY_HANDLE_SIZE" && name != "MPIX_MAX_MEMHANDLE_SIZE":
			k.value = fmt.Sprint(n - 1) // C counts the byte that ends a string
		case c.Type == syncHandle:
			k.kind, k.value = "INTEGER(KIND=MPI_ADDRESS_KIND)", fmt.Sprintf("%d_MPI_ADDRESS_KIND", n)
			fallthrough
		case isHandle(c.Type):
			k.typ = c.Type
		}
		list = append(list, k)
	}
	return list, nil
}

// sentinel is a constant that is recognised by its address: a variable in a COMMON block. The C
// functions of the library know it as mpi_fortran_x_, and cells is its size in ints there.
type sentinel struct {
	name  string
	block string // the name of the COMMON block
	cells int
	mpi   string // type in the module mpi and in mpif.h
	shape string // its bounds there
	f08   string // type in mpi_f08
	bound string
}

var sentinels = []sentinel{
	{"MPI_BOTTOM", "MPI_FORTRAN_BOTTOM", 1, "INTEGER", "", "INTEGER", ""},
	{"MPI_IN_PLACE", "MPI_FORTRAN_IN_PLACE", 1, "INTEGER", "", "INTEGER", ""},
	{"MPI_BUFFER_AUTOMATIC", "MPI_FORTRAN_BUFFER_AUTOMATIC", 1, "INTEGER", "", "INTEGER", ""},
	{"MPI_STATUS_IGNORE", "MPI_FORTRAN_STATUS_IGNORE", 8, "INTEGER", "8", "TYPE(MPI_Status)", ""},
	{"MPI_STATUSES_IGNORE", "MPI_FORTRAN_STATUSES_IGNORE", 8, "INTEGER", "8,1", "TYPE(MPI_Status)", "1"},
	{"MPI_ERRCODES_IGNORE", "MPI_FORTRAN_ERRCODES_IGNORE", 1, "INTEGER", "1", "INTEGER", "1"},
	{"MPI_UNWEIGHTED", "MPI_FORTRAN_UNWEIGHTED", 1, "INTEGER", "1", "INTEGER", "1"},
	{"MPI_WEIGHTS_EMPTY", "MPI_FORTRAN_WEIGHTS_EMPTY", 1, "INTEGER", "1", "INTEGER", "1"},
	{"MPI_ARGV_NULL", "MPI_FORTRAN_ARGV_NULL", 1, "CHARACTER(LEN=4)", "1", "CHARACTER(LEN=4)", "1"},
	{"MPI_ARGVS_NULL", "MPI_FORTRAN_ARGVS_NULL", 1, "CHARACTER(LEN=4)", "1,1", "CHARACTER(LEN=4)", "1,1"},
}

// predefined holds the predefined functions of attributes and data representations.
var predefined = []struct {
	name, like string
}{
	{"MPI_COMM_NULL_COPY_FN", "MPI_Comm_copy_attr_function"},
	{"MPI_COMM_DUP_FN", "MPI_Comm_copy_attr_function"},
	{"MPI_COMM_NULL_DELETE_FN", "MPI_Comm_delete_attr_function"},
	{"MPI_TYPE_NULL_COPY_FN", "MPI_Type_copy_attr_function"},
	{"MPI_TYPE_DUP_FN", "MPI_Type_copy_attr_function"},
	{"MPI_TYPE_NULL_DELETE_FN", "MPI_Type_delete_attr_function"},
	{"MPI_WIN_NULL_COPY_FN", "MPI_Win_copy_attr_function"},
	{"MPI_WIN_DUP_FN", "MPI_Win_copy_attr_function"},
	{"MPI_WIN_NULL_DELETE_FN", "MPI_Win_delete_attr_function"},
	{"MPI_CONVERSION_FN_NULL", "MPI_Datarep_conversion_function"},
	{"MPI_CONVERSION_FN_NULL_C", "MPI_Datarep_conversion_function_c"},
	{"MPI_NULL_COPY_FN", ""}, // those of MPI_KEYVAL_CREATE, which mpi_f08 does not have
	{"MPI_DUP_FN", ""},
	{"MPI_NULL_DELETE_FN", ""},
}

// bounded returns a name with its bounds.
func bounded(name, bounds string) string {
	if bounds == "" {
		return name
	}
	return name + "(" + bounds + ")"
}

// include returns mpif.h. It is valid in fixed and in free form: each statement is in columns 7
// to 72 of one line, and comments begin with ! in column 1.
func include(list []constant) string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, "      "+format+"\n", a...) }
	b.WriteString("! mpif.h: MPI for Fortran without modules. " + notice + "\n")
	// Without interfaces nothing else tells that a compiler option has made INTEGERs longer.
	b.WriteString("! An error here: INTEGERs of this library have 32 bits.\n")
	line("INTEGER MPI_INTEGERS_HAVE_32_BITS")
	line("PARAMETER (MPI_INTEGERS_HAVE_32_BITS=32/MOD(BIT_SIZE(0),64))")
	for _, c := range slices.Concat(list, removed, support(mpi)) {
		line("%s %s", c.kind, c.name)
		line("PARAMETER (%s=%s)", c.name, c.value)
	}
	for _, s := range sentinels {
		line("%s %s", s.mpi, bounded(s.name, s.shape))
		line("COMMON /%s/ %s", s.block, s.name)
	}
	for _, p := range predefined {
		line("EXTERNAL %s", p.name)
	}
	for _, p := range []string{"", "P"} {
		line("DOUBLE PRECISION %sMPI_WTIME, %sMPI_WTICK", p, p)
		line("EXTERNAL %sMPI_WTIME, %sMPI_WTICK", p, p)
		line("INTEGER(KIND=MPI_ADDRESS_KIND) %sMPI_AINT_ADD", p)
		line("INTEGER(KIND=MPI_ADDRESS_KIND) %sMPI_AINT_DIFF", p)
		line("EXTERNAL %sMPI_AINT_ADD, %sMPI_AINT_DIFF", p, p)
	}
	return b.String()
}

// notice heads every generated file.
const notice = "Generated by abi/generate."

// parameters returns the declarations of the constants in a module.
func (m method) parameters(list []constant) string {
	var b strings.Builder
	for _, c := range list {
		kind, value := c.kind, c.value
		if m == f08 && c.typ != "" {
			kind, value = "TYPE("+c.typ+")", c.typ+"("+c.value+")"
		}
		fmt.Fprintf(&b, "  %s, PARAMETER :: %s = %s\n", kind, c.name, value)
	}
	return b.String()
}

// variables returns the declarations of the sentinels in a module.
func (m method) variables() string {
	var b strings.Builder
	for _, s := range sentinels {
		kind, bounds := s.mpi, s.shape
		if m == f08 {
			kind, bounds = s.f08, s.bound
		}
		fmt.Fprintf(&b, "  %s :: %s\n", kind, bounded(s.name, bounds))
		fmt.Fprintf(&b, "  COMMON /%s/ %s\n", s.block, s.name)
	}
	return b.String()
}
