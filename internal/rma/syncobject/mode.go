package syncobject

// Mode says which operations a request that signals an object waits for.
type Mode uint32

// The modes. Get-accumulates, fetch-and-ops and compare-and-swaps are waited for with each
// of Get and Accumulate, for they are both.
const (
	Put Mode = 1 << iota
	Get
	Accumulate

	All = Put | Get | Accumulate
)
