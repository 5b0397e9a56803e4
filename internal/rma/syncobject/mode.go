package syncobject

// Mode says which operations a request that signals an object waits for.
type Mode uint32

// The modes. Get-accumulates, fetch-and-ops and compare-and-swaps belong to both Get and
// Accumulate.
const (
	Put Mode = 1 << iota
	Get
	Accumulate

	All = Put | Get | Accumulate
)
