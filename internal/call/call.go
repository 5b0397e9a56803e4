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

// End is the number of numbers: they are 0 to End-1.
const End = len(traits)

// Trait is a set of properties of calls. The table of the calls gives each call its traits.
type Trait uint8

// The traits.
const (
	Message    Trait = 1 << iota // it sends or receives messages or parts of one, or probes
	Source                       // its peer is a source
	Once                         // its request stands for one message, sent or received once
	Persistent                   // its request can be started many times
	Collective                   // it is a collective in one of its forms, over neighbours or all members
	Window                       // it makes, frees or uses a window; not what other objects have, too, such as SetName
)

// Is reports whether a call has one of some traits. It takes a load: calls of different kinds alternate, so
// that the processor would mispredict the jumps of a switch.
func (n Number) Is(t Trait) bool { return int(n) < len(traits) && Trait(traits[n])&t != 0 }

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
