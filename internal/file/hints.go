package file

// Hints are what a program prefers for a file. Package mpi reads them.
type Hints struct {
	Perm       uint32 // of a file that is created
	CbNodes    int    // aggregators of collective accesses; 0: chosen
	CbBuffer   int    // bytes of the buffer of an aggregator
	ReadBuffer int    // bytes that an independent read with data sieving reads together
	SieveReads bool   // independent reads may read holes
	CbRead     Choice // two phases in collective reads
	CbWrite    Choice // and in collective writes
}

// Choice says whether a way of access is used.
type Choice uint8

// The choices.
const (
	Automatic Choice = iota
	Enable
	Disable
)

// DefaultHints are the hints of a program that gives none.
func DefaultHints() Hints {
	return Hints{Perm: 0o666, CbBuffer: 4 << 20, ReadBuffer: 4 << 20, SieveReads: true}
}
