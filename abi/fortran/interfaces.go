package fortran

import (
	"fmt"
	"slices"
	"strings"
)

// specific is one procedure behind a generic name of a module.
type specific struct {
	*Procedure
	method  method
	suffix  string // of the name in the module: "_f08ts"; the linker's name is in lower case, with "_"
	large   bool
	pointer bool // in the module mpi: addresses are TYPE(C_PTR)
}

// specifics returns the procedures that a module has for a row of the table.
func (p *Procedure) specifics(m method) []specific {
	if m == mpi {
		if p.Large {
			return nil
		}
		list := []specific{{p, mpi, "", false, false}}
		if slices.ContainsFunc(p.Params, func(x Param) bool { return x.Is("pointer") }) {
			list = append(list, specific{p, mpi, "_cptr", false, true})
		}
		return list
	}
	if p.Deprecated() {
		return nil
	}
	suffix := "_f08"
	if p.Choice() {
		suffix = "_f08ts"
	}
	list := []specific{{p, f08, suffix, false, false}}
	if p.HasLarge() && p.overloads() {
		list = append(list, specific{p, f08, "_c" + suffix, true, false})
	}
	return list
}

// overloads reports whether the large form is of use: integers of C differ between the forms, or
// the functions of the program do. All integers but int have the same KIND.
func (p *Procedure) overloads() bool {
	return p.callbacks() || slices.ContainsFunc(p.Params, func(x Param) bool { return (x.C.Base == "int") != (x.LargeC.Base == "int") })
}

// callbacks reports whether the functions of the program differ between the forms. A generic name
// cannot tell these apart, so that programs call MPI_X_c.
func (p *Procedure) callbacks() bool {
	return slices.ContainsFunc(p.Params, func(x Param) bool { return x.Is("function") && x.LargeC.Base != "" && x.C.Base != x.LargeC.Base })
}

// name returns the name of the specific procedure in the module.
func (s specific) name(prefix string) string { return prefix + s.Name + s.suffix }

// generic returns the name that programs call.
func (s specific) generic(prefix string) string {
	if s.Procedure.Large {
		return prefix + strings.TrimSuffix(s.Name, "_c")
	}
	if s.large && s.callbacks() {
		return prefix + s.Name + "_c"
	}
	return prefix + s.Name
}

// text returns the interface body.
func (s specific) text(prefix string) string {
	var names, imports []string
	var declarations strings.Builder
	for _, x := range s.Params {
		names = append(names, x.Name)
		d := dummyOf(s.Procedure, x, s.method, s.large, s.pointer)
		imports = append(imports, d.imports...)
		if d.kind == "EXTERNAL" {
			fmt.Fprintf(&declarations, "      EXTERNAL :: %s\n", d.name)
			continue
		}
		declarations.WriteString(d.text("      "))
	}
	kind := "SUBROUTINE"
	if s.Function() {
		kind = "FUNCTION"
		t, more := result(s.C.Returns)
		imports = append(imports, more...)
		fmt.Fprintf(&declarations, "      %s :: %s\n", t, s.name(prefix))
	} else if s.ierror() {
		names = append(names, "ierror")
		optional := ""
		if s.method == f08 {
			optional = ", OPTIONAL, INTENT(OUT)"
		}
		fmt.Fprintf(&declarations, "      INTEGER%s :: ierror\n", optional)
	}
	slices.Sort(imports)
	imports = slices.Compact(imports)
	var b strings.Builder
	b.WriteString(wrap("    ", fmt.Sprintf("%s %s(%s)", kind, s.name(prefix), strings.Join(names, ", "))))
	if len(imports) > 0 {
		b.WriteString(wrap("      ", "IMPORT :: "+strings.Join(imports, ", ")))
	}
	b.WriteString("      IMPLICIT NONE\n" + declarations.String())
	fmt.Fprintf(&b, "    END %s %s\n", kind, s.name(prefix))
	return b.String()
}

// ierror reports whether the procedure has an error code.
func (p *Procedure) ierror() bool { return !p.Function() && p.Name != "MPI_F_sync_reg" }

// interfaces returns the interface blocks of a module, for the names MPI_X and PMPI_X.
func interfaces(list []*Procedure, m method) string {
	var b strings.Builder
	for _, prefix := range []string{"", "P"} {
		bodies := map[string][]specific{}
		var order []string
		for _, p := range list {
			for _, s := range p.specifics(m) {
				g := s.generic(prefix)
				if bodies[g] == nil {
					order = append(order, g)
				}
				bodies[g] = append(bodies[g], s)
			}
		}
		for _, g := range order {
			name := " " + g
			if len(bodies[g]) == 1 && bodies[g][0].name(prefix) == g {
				name = "" // a specific name, which can also be an actual argument
			}
			fmt.Fprintf(&b, "\n  INTERFACE%s\n", name)
			for _, s := range bodies[g] {
				b.WriteString(s.text(prefix))
			}
			fmt.Fprintf(&b, "  END INTERFACE%s\n", name)
		}
	}
	return b.String()
}
