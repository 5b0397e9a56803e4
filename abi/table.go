package abi

import (
	"bytes"
	"cmp"
	_ "embed" // the tables
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

//go:embed procedures.csv
var procedures []byte

//go:embed calls.csv
var calls []byte

//go:embed constants.csv
var constants []byte

//go:embed callbacks.csv
var callbacks []byte

// Procedure is one row of procedures.csv.
type Procedure struct {
	Name    string
	Returns string
	Params  []Param
	Call    string     // "" if the engine does not implement the procedure
	Go      string     // the name in Go
	Traits  []string   // what kind of call it is: names of constants of internal/call
	Large   *Procedure // the form with large counts, nil if there is none
	Number  int        // position in the table, not counting the large forms
}

// Identifier returns the name of a procedure without the prefix and the underscores, as in SendInit for
// MPI_Send_init.
func (p *Procedure) Identifier() string {
	var b strings.Builder
	for _, word := range strings.Split(p.Name, "_")[1:] {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// Call is one row of calls.csv: a call that is not a procedure's.
type Call struct {
	Identifier string
	Go         string // the name in Go
	C          string // the procedure of C that it is a form of, "" if there is none
	Traits     []string
}

// Constant is one row of constants.csv.
type Constant struct {
	Name  string
	Type  string // "alias": Value is another constant's name
	Value string
}

// Int returns the value of a constant that is a number or a handle.
func (c Constant) Int() (int64, bool) {
	n, err := strconv.ParseInt(c.Value, 0, 64)
	return n, err == nil
}

// Callback is one row of callbacks.csv: a function type that programs pass to MPI.
type Callback struct {
	Name    string
	Returns string
	Params  []Param
}

// Procedures returns the rows of the table. A form with large counts is the Large of the
// form without, or a row of its own if there is no form without that has as many parameters.
func Procedures() ([]*Procedure, error) {
	rows, err := rows("procedures.csv", procedures, 6)
	if err != nil {
		return nil, err
	}
	var list []*Procedure
	named := map[string]*Procedure{}
	for _, r := range rows {
		p := &Procedure{Name: r[0], Returns: r[1], Call: r[3], Go: r[4], Traits: strings.Fields(r[5])}
		p.Go = cmp.Or(p.Go, p.Identifier())
		p.Params, err = parseParams(r[2])
		if err != nil {
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

// Calls returns the calls that are not a procedure's.
func Calls() ([]Call, error) {
	rows, err := rows("calls.csv", calls, 4)
	if err != nil {
		return nil, err
	}
	var list []Call
	for _, r := range rows {
		list = append(list, Call{Identifier: r[0], Go: cmp.Or(r[1], r[0]), C: r[2], Traits: strings.Fields(r[3])})
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

// Callbacks returns the function types that programs pass to MPI.
func Callbacks() ([]Callback, error) {
	rows, err := rows("callbacks.csv", callbacks, 3)
	if err != nil {
		return nil, err
	}
	var list []Callback
	for _, r := range rows {
		c := Callback{Name: r[0], Returns: r[1]}
		c.Params, err = parseParams(r[2])
		if err != nil {
			return nil, fmt.Errorf("callbacks.csv: %s: %w", c.Name, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// rows returns the rows of a table without its header row.
func rows(name string, text []byte, columns int) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = columns
	all, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all[1:], nil
}
