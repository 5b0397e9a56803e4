package engine

// A Pset is a process set that the engine defines.
type Pset struct {
	Name  string
	Ranks []int // its processes of this job, ascending
}

// A PsetClient is a Client whose engine may define process sets.
type PsetClient interface {
	Client

	// Psets returns the process sets that have processes of this job.
	Psets() ([]Pset, error)
}
