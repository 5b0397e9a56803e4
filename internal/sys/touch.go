//go:build amd64 || arm64

package sys

// touch writes the byte at p as it is, in one atomic operation: no store of others to it is lost.
// The bytes beside it may be anybody's, which is why it is not an operation of sync/atomic on
// the word around: the race detector would take that for an access to them.
//
//go:noescape
func touch(p *byte)
