// Package abi is the C library's table: every procedure, constant and callback of the
// MPI-5.0 standard ABI, and of Halo's extensions, with what of package mpi it calls.
//
// procedures.csv has one row for each procedure of C: name, type of the result,
// parameters as C has them, and the call. What C needs is generated from it, by
// go run ./abi/generate: the header mpi.h, the symbols of the library (abi/lib), and the
// Go functions behind them (abi/bind). A test generates again and compares.
//
// The call of a procedure is a Go expression in which names of parameters stand for
// their values, converted by the C type: int and MPI_Count are numbers, handles what they
// mean, addresses numbers. "->" leads from what the expression returns, with an error
// last, to the parameters that are results, "=>" where there is no error. The call of
// "MPI_X_c" is that of "MPI_X", unless it has other parameters. A procedure without a call is one that the engine does not
// have yet: it is MPI_ERR_UNSUPPORTED_OPERATION.
package abi

import (
	"bytes"
	_ "embed" // the tables
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

//go:embed procedures.csv
var procedures []byte

//go:embed constants.csv
var constants []byte

//go:embed callbacks.csv
var callbacks []byte

// Procedure is one row of procedures.csv.
type Procedure struct {
	Name    string
	Returns string
	Params  []Param
	Call    string     // "" of what the engine does not have
	Large   *Procedure // the form with large counts, nil if there is none
	Number  int        // in the order of the table, without the large forms
}

// Constant is one row of constants.csv.
type Constant struct {
	Name  string
	Type  string // "alias": Value is another constant's name
	Value string
}

// Int is the value of a constant that is a number or a handle.
func (c Constant) Int() (int64, bool) {
	n, err := strconv.ParseInt(c.Value, 0, 64)
	return n, err == nil
}

// Callback is one row of callbacks.csv: a type of functions that programs pass.
type Callback struct {
	Name    string
	Returns string
	Params  []Param
}

// Procedures returns the table without the large forms, which hang on the others. A large
// form of which there is no other stands by itself.
func Procedures() ([]*Procedure, error) {
	rows, err := rows("procedures.csv", procedures, 4)
	if err != nil {
		return nil, err
	}
	var list []*Procedure
	named := map[string]*Procedure{}
	for _, r := range rows {
		p := &Procedure{Name: r[0], Returns: r[1], Call: r[3]}
		if p.Params, err = parseParams(r[2]); err != nil {
			return nil, fmt.Errorf("procedures.csv: %s: %w", p.Name, err)
		}
		if named[p.Name] != nil {
			return nil, fmt.Errorf("procedures.csv: %s is there twice", p.Name)
		}
		named[p.Name] = p
		if base := named[strings.TrimSuffix(p.Name, "_c")]; base != nil && base != p && len(base.Params) == len(p.Params) {
			base.Large = p
			continue
		}
		p.Number = len(list)
		list = append(list, p)
	}
	return list, nil
}

// Constants returns the constants.
func Constants() ([]Constant, error) {
	rows, err := rows("constants.csv", constants, 3)
	if err != nil {
		return nil, err
	}
	var list []Constant
	for _, r := range rows {
		list = append(list, Constant{Name: r[0], Type: r[1], Value: r[2]})
	}
	return list, nil
}

// Callbacks returns the types of functions that programs pass.
func Callbacks() ([]Callback, error) {
	rows, err := rows("callbacks.csv", callbacks, 3)
	if err != nil {
		return nil, err
	}
	var list []Callback
	for _, r := range rows {
		c := Callback{Name: r[0], Returns: r[1]}
		if c.Params, err = parseParams(r[2]); err != nil {
			return nil, fmt.Errorf("callbacks.csv: %s: %w", c.Name, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// rows are the rows of a table without its head.
func rows(name string, text []byte, columns int) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = columns
	all, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all[1:], nil
}
