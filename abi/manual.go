package abi

import (
	_ "embed" // the tables
	"fmt"
	"path"
)

//go:embed purposes.csv
var purposes []byte

//go:embed parameters.csv
var meanings []byte

//go:embed keys.csv
var keys []byte

// Purpose is one row of purposes.csv: what the manual page of a procedure and of its form
// with large counts says and no other table holds.
type Purpose struct {
	Section string // section or chapter of the standard; "extension" if the standard lacks it
	Scope   Scope
	Text    string // one line, a verb in the imperative: "send a message"
	Remark  string // a remark beyond Text, or ""
}

// Scope tells which other processes take part in a call.
type Scope string

// The scopes.
const (
	Local         Scope = "local"       // does not depend on calls of other processes
	Nonlocal      Scope = "nonlocal"    // may wait for calls of other processes
	Collective    Scope = "collective"  // all processes of an object call it
	ICollective   Scope = "icollective" // all processes call it, and it does not wait for them
	PCollective   Scope = "pcollective" // all processes make the request of a persistent collective
	ExtensionPart       = "extension"   // the Section of procedures that the standard lacks
)

// Purposes returns the rows of purposes.csv by the name of the procedure.
func Purposes() (map[string]Purpose, error) {
	rows, err := rows("purposes.csv", purposes, 5)
	if err != nil {
		return nil, err
	}
	all := map[string]Purpose{}
	for _, r := range rows {
		p := Purpose{Section: r[1], Scope: Scope(r[2]), Text: r[3], Remark: r[4]}
		switch p.Scope {
		case Local, Nonlocal, Collective, ICollective, PCollective:
		default:
			return nil, fmt.Errorf("purposes.csv: %s: there is no scope %q", r[0], r[2])
		}
		if _, twice := all[r[0]]; twice {
			return nil, fmt.Errorf("purposes.csv: %s is there twice", r[0])
		}
		all[r[0]] = p
	}
	return all, nil
}

// Meaning is one row of parameters.csv: what a parameter of some procedures is for.
type Meaning struct {
	Procedures string // a pattern of path.Match
	Parameter  string
	Direction  string // IN, OUT or INOUT; "": Flow derives it from the type in C
	Text       string
}

// Meanings returns the rows in order. The first row that matches a parameter describes it.
func Meanings() ([]Meaning, error) {
	rows, err := rows("parameters.csv", meanings, 4)
	if err != nil {
		return nil, err
	}
	var list []Meaning
	for _, r := range rows {
		m := Meaning{r[0], r[1], r[2], r[3]}
		if _, err := path.Match(m.Procedures, ""); err != nil {
			return nil, fmt.Errorf("parameters.csv: %q: %w", m.Procedures, err)
		}
		list = append(list, m)
	}
	return list, nil
}

// Of reports whether the row describes a parameter of a procedure.
func (m Meaning) Of(procedure string, p Param) bool {
	fits, _ := path.Match(m.Procedures, procedure) // Meanings has checked the pattern
	return fits && m.Parameter == p.Name
}

// Flow returns the direction of a parameter: that of the row if it has one, otherwise the
// one that the type in C implies.
func (m Meaning) Flow(p Param) string {
	switch {
	case m.Direction != "":
		return m.Direction
	case p.Stars == 0 || p.Const || p.Function():
		return "IN"
	}
	return "OUT"
}

// Key is one row of keys.csv: a key of an Info that some procedures understand.
type Key struct {
	Procedures string // a pattern of path.Match
	Name       string
	Text       string
}

// Keys returns the rows in order.
func Keys() ([]Key, error) {
	rows, err := rows("keys.csv", keys, 3)
	if err != nil {
		return nil, err
	}
	var list []Key
	for _, r := range rows {
		k := Key{r[0], r[1], r[2]}
		if _, err := path.Match(k.Procedures, ""); err != nil {
			return nil, fmt.Errorf("keys.csv: %q: %w", k.Procedures, err)
		}
		list = append(list, k)
	}
	return list, nil
}

// Of reports whether a procedure understands the key.
func (k Key) Of(procedure string) bool {
	fits, _ := path.Match(k.Procedures, procedure) // Keys has checked the pattern
	return fits
}
