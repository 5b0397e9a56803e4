package fortran

import (
	"fmt"
	"strings"
)

// method is a way of Fortran to use MPI. mpif.h has no interfaces, and is the same as mpi else.
type method int

const (
	mpi method = iota
	f08
)

// kinds maps the integer types of C to their KIND in Fortran.
var kinds = map[string]string{
	"int": "", "MPI_Fint": "", "MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND", "MPI_Offset": "MPI_OFFSET_KIND",
}

// Handle types, and the names of their conversions.
var handles = []string{"MPI_Comm", "MPI_Datatype", "MPI_Errhandler", "MPI_File", "MPI_Group", "MPI_Info", "MPI_Message", "MPI_Op",
	"MPI_Request", "MPI_Session", "MPI_Win", syncHandle}

// syncHandle is the handle type of synchronisation objects. Its integer has MPI_ADDRESS_KIND and is the word that C
// has, in every process, so that MPIX_HANDLE_SYNC sends it from a variable of Fortran as it does from one of C.
// A number of a table of the process, as other handles have, would mean nothing to the receiver.
const syncHandle = "MPIX_Sync"

func isHandle(base string) bool {
	for _, h := range handles {
		if h == base {
			return true
		}
	}
	return false
}

// dummy is the declaration of a dummy argument: type, attributes, name with bounds.
type dummy struct {
	kind      string
	attribute []string
	name      string
	bounds    string
	imports   []string // names of the module that the declaration uses
	anything  bool     // types and ranks are not to be compared
}

// text returns the declaration of a dummy argument, in lines.
func (d dummy) text(indent string) string {
	line := d.kind
	for _, a := range d.attribute {
		line += ", " + a
	}
	line += " :: " + d.name
	if d.bounds != "" {
		line += "(" + d.bounds + ")"
	}
	var b strings.Builder
	if d.anything {
		for _, c := range []string{"!GCC$ ATTRIBUTES NO_ARG_CHECK ::", "!DEC$ ATTRIBUTES NO_ARG_CHECK ::", "!DIR$ IGNORE_TKR"} {
			fmt.Fprintf(&b, "%s%s %s\n", indent, c, d.name)
		}
	}
	return b.String() + wrap(indent, line)
}

// integer returns the type INTEGER of the kind that an integer type of C has.
func integer(base string) (kind string, imports []string) {
	k, ok := kinds[base]
	switch {
	case !ok:
		panic("fortran: no integer type: " + base)
	case k == "":
		return "INTEGER", nil
	}
	return "INTEGER(KIND=" + k + ")", []string{k}
}

// dummyOf returns the dummy argument of a parameter. In the module mpi, pointer chooses TYPE(C_PTR)
// for addresses that a call returns.
func dummyOf(p *Procedure, x Param, m method, large, pointer bool) dummy {
	c := x.c(large)
	d := dummy{name: x.Name, bounds: x.Length}
	if m == mpi && d.bounds != "" {
		d.bounds = "*"
		if x.Length == "3,n" || x.Is("lists") {
			d.bounds = x.Length[:strings.Index(x.Length, ",")+1] + "*"
		}
	}
	if m == f08 && !x.Is("free") {
		switch {
		case x.Direction == "in":
			d.attribute = append(d.attribute, "INTENT(IN)")
		case x.Is("choice") || c.Base == "MPI_Status" && x.Direction == "out": // constants may be passed
		default:
			d.attribute = append(d.attribute, "INTENT("+strings.ToUpper(x.Direction)+")")
		}
	}
	use := func(kind string, names ...string) { d.kind, d.imports = kind, append(d.imports, names...) }
	switch {
	case x.Is("choice") && m == f08:
		use("TYPE(*), DIMENSION(..)")
	case x.Is("choice"), x.Is("detached") && m == mpi:
		use("TYPE(*), DIMENSION(*)")
		d.anything = true
	case x.Is("string") && m == f08 && x.Length != "":
		use("CHARACTER(LEN=" + x.Length + ")")
		if strings.HasPrefix(x.Length, "MPI_") {
			d.imports = append(d.imports, x.Length)
		}
		d.bounds = ""
	case x.Is("string"), x.Is("strings"), x.Is("lists"):
		use("CHARACTER(LEN=*)")
		if x.Is("string") {
			d.bounds = ""
		}
	case x.Is("logical"):
		use("LOGICAL")
	case x.Is("pointer") && (m == f08 || pointer), x.Is("detached"):
		use("TYPE(C_PTR)", "C_PTR")
	case x.Is("function") && m == f08:
		use("PROCEDURE("+c.Base+")", c.Base)
		d.attribute = nil
	case x.Is("function"):
		use("EXTERNAL")
	case (x.Is("attribute") || x.Is("state")) && p.Deprecated():
		use("INTEGER")
	case x.Is("pointer"), x.Is("attribute"), x.Is("state"):
		use(integerOnly("MPI_Aint"), "MPI_ADDRESS_KIND")
	case c.Base == "MPI_Fint": // a status of the module mpi, also in mpi_f08
		use("INTEGER", "MPI_STATUS_SIZE")
		d.bounds = "MPI_STATUS_SIZE"
	case c.Base == "MPI_F08_status" || c.Base == "MPI_Status" && m == f08:
		use("TYPE(MPI_Status)", "MPI_Status")
	case c.Base == "MPI_Status":
		use("INTEGER", "MPI_STATUS_SIZE")
		d.bounds = strings.TrimSuffix("MPI_STATUS_SIZE,"+d.bounds, ",")
	case isHandle(c.Base) && m == f08:
		use("TYPE("+c.Base+")", c.Base)
	case c.Base == syncHandle:
		use(integerOnly("MPI_Aint"), "MPI_ADDRESS_KIND")
	case isHandle(c.Base):
		use("INTEGER")
	default:
		kind, names := integer(c.Base)
		use(kind, names...)
	}
	if x.Is("asynchronous") && m == f08 {
		d.attribute = append(d.attribute, "ASYNCHRONOUS")
	}
	return d
}

func integerOnly(base string) string { kind, _ := integer(base); return kind }

// result returns the type of a function.
func result(c string) (kind string, imports []string) {
	if c == "double" {
		return "DOUBLE PRECISION", nil
	}
	return integer(c)
}

// wrap breaks a line of free form, which may have 132 characters.
func wrap(indent, line string) string {
	const most = 120
	var b strings.Builder
	for len(indent)+len(line) > most {
		at := strings.LastIndexAny(line[:most-len(indent)], ",(") + 1
		fmt.Fprintf(&b, "%s%s &\n", indent, line[:at])
		line = "  " + strings.TrimLeft(line[at:], " ")
	}
	return b.String() + indent + line + "\n"
}
