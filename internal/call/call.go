// Package call numbers the calls of MPI, and has their names in Go and in C. The constants are generated
// from abi/procedures.csv and abi/calls.csv by abi/generate.
//
// The name in Go is that in errors of package mpi. Methods of several objects share a name, such as Free;
// the names in C are unique.
package call

// Number identifies a call; None is no call.
//
// The numbers change from version to version. Between processes, calls have names.
type Number uint16

// Go returns the name of a call in Go, "" for None.
func (n Number) Go() string { return name(goNames, goBegins, n) }

// C returns the name of a call in C, "" for None and for calls that only Go has.
func (n Number) C() string { return name(cNames, cBegins, n) }

// Name returns the name of a call in C or in Go. Calls that only Go has keep their name.
func (n Number) Name(inC bool) string {
	if c := n.C(); inC && c != "" {
		return c
	}
	return n.Go()
}

// String returns the name in Go.
func (n Number) String() string { return n.Go() }

// name returns the name of a call from a text of all names. A table of strings would have a relocation for
// each name in shared libraries, so that every process would have its own copy.
func name(names, begins string, n Number) string {
	at := 2 * int(n)
	if at+4 > len(begins) {
		return ""
	}
	return names[int(begins[at])|int(begins[at+1])<<8 : int(begins[at+2])|int(begins[at+3])<<8]
}
