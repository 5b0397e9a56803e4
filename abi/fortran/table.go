package fortran

import (
	"bytes"
	_ "embed" // the table
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

//go:embed parameters.csv
var parameters []byte

// Procedure is a procedure of Fortran.
type Procedure struct {
	Name   string
	C      *abi.Procedure // nil: a procedure that only Fortran has
	Params []Param
	Large  bool // MPI_X_c has other parameters than MPI_X: it is a row of its own
}

// Param is a parameter of a procedure of Fortran, without ierror.
type Param struct {
	Direction string // in, out, inout
	Name      string
	Length    string // the bounds of an array, "" for a scalar
	Facts     []string
	C, LargeC abi.Param // in MPI_X and MPI_X_c
}

// Is reports whether the table has the fact for the parameter.
func (p Param) Is(fact string) bool { return slices.Contains(p.Facts, fact) }

// c returns the parameter of MPI_X, or of MPI_X_c.
func (p Param) c(large bool) abi.Param {
	if large {
		return p.LargeC
	}
	return p.C
}

// Procedures returns the rows of the table.
func Procedures() ([]*Procedure, error) {
	all, err := abi.Procedures()
	if err != nil {
		return nil, err
	}
	named := map[string]*abi.Procedure{}
	for _, p := range all {
		named[p.Name] = p
	}
	rows, err := csv.NewReader(bytes.NewReader(parameters)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("parameters.csv: %w", err)
	}
	var list []*Procedure
	for _, r := range rows[1:] {
		p := &Procedure{Name: r[0], C: named[r[0]]}
		if base, ok := strings.CutSuffix(p.Name, "_c"); ok && named[base] != nil {
			p.Large = true
		}
		p.Params, err = parse(r[1])
		if err == nil {
			err = p.align()
		}
		if err != nil {
			return nil, fmt.Errorf("parameters.csv: %s: %w", p.Name, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// parse parses the parameters of a row.
func parse(text string) ([]Param, error) {
	var list []Param
	for _, one := range strings.Split(text, "; ") {
		if one == "" {
			continue
		}
		words := strings.Fields(one)
		if len(words) < 2 || !slices.Contains([]string{"in", "out", "inout"}, words[0]) {
			return nil, fmt.Errorf("%q is no parameter", one)
		}
		name, length, _ := strings.Cut(strings.TrimSuffix(words[1], ")"), "(")
		list = append(list, Param{Direction: words[0], Name: name, Length: length, Facts: words[2:]})
	}
	return list, nil
}

// only holds the parameters of procedures that only Fortran has, as in C.
var only = map[string][]abi.Param{
	"MPI_F_sync_reg":   {{Base: "void", Stars: 1}},
	"MPI_Status_f2f08": {{Base: "MPI_Fint", Stars: 1}, {Base: "MPI_F08_status", Stars: 1}},
	"MPI_Status_f082f": {{Base: "MPI_F08_status", Stars: 1}, {Base: "MPI_Fint", Stars: 1}},
}

// align finds the parameters of the procedure in C. Fortran lacks argc and argv of MPI_Init, and
// the varargs of MPI_Pcontrol.
func (p *Procedure) align() error {
	c, large := only[p.Name], []abi.Param(nil)
	if p.C != nil {
		c = p.C.Params
		if p.C.Large != nil {
			large = p.C.Large.Params
		}
	}
	k := 0
	for i, x := range c {
		if p.C != nil && absent(p.Name, x) {
			continue
		}
		if k == len(p.Params) {
			return fmt.Errorf("there is no %q", x.Name)
		}
		p.Params[k].C = x
		if large != nil {
			p.Params[k].LargeC = large[i]
		}
		k++
	}
	if k != len(p.Params) {
		return fmt.Errorf("the table of C has no %q", p.Params[k].Name)
	}
	return nil
}

// absent reports whether Fortran does not have a parameter of C.
func absent(procedure string, c abi.Param) bool {
	return c.Name == "" || (c.Name == "argc" || c.Name == "argv") && procedure != "MPI_Comm_spawn"
}

// Function reports whether the procedure returns a value and no error code.
func (p *Procedure) Function() bool {
	return p.C != nil && p.C.Returns != "int"
}

// Choice reports whether the procedure has a buffer of any type.
func (p *Procedure) Choice() bool {
	return slices.ContainsFunc(p.Params, func(x Param) bool { return x.Is("choice") })
}

// HasLarge reports whether there is a form with large counts that has the same parameters.
func (p *Procedure) HasLarge() bool { return p.C != nil && p.C.Large != nil }

// Deprecated reports whether mpi_f08 does not have the procedure, which was deprecated before it.
func (p *Procedure) Deprecated() bool {
	return strings.HasPrefix(p.Name, "MPI_Attr_") || strings.HasPrefix(p.Name, "MPI_Keyval_")
}
