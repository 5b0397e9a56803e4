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

// Purpose is one row of purposes.csv: what a manual says of a procedure and its form with
// large counts that the other tables do not tell.
type Purpose struct {
	Section string // of the standard, or the chapter; "extension" of none
	Scope   Scope
	Text    string // in one line, as what one does: "send a message"
	Remark  string // what is to be said beyond that, "" if nothing
}

// Scope tells which other processes a call has to do with.
type Scope string

// The scopes.
const (
	Local         Scope = "local"       // it does not depend on calls of others
	Nonlocal      Scope = "nonlocal"    // it may wait for calls of others
	Collective    Scope = "collective"  // all processes of an object call it
	ICollective   Scope = "icollective" // all start it, it waits for nobody
	PCollective   Scope = "pcollective" // all make the request of a persistent collective
	ExtensionPart       = "extension"   // the Section of what the standard does not have
)

// Purposes returns the purposes by the procedures' names.
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
	Direction  string // IN, OUT or INOUT; "": as the type in C says
	Text       string
}

// Meanings returns the rows. The first one that fits a parameter holds.
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

// Of reports whether the row is about a parameter of a procedure.
func (m Meaning) Of(procedure string, p Param) bool {
	fits, _ := path.Match(m.Procedures, procedure) // Meanings has tried the pattern
	return fits && m.Parameter == p.Name
}

// Flow is the direction of a parameter: what the row says, or else what the type does.
func (m Meaning) Flow(p Param) string {
	switch {
	case m.Direction != "":
		return m.Direction
	case p.Stars == 0 || p.Const || p.Function():
		return "IN"
	}
	return "OUT"
}
