//go:build amd64 || arm64

package sys

// touch writes the byte at p with the value that it has, by one atomic operation, so that no store of
// others to it is lost. It is not an operation of sync/atomic on the word that contains the byte: others
// may use the bytes beside it, and the race detector would report that as a race.
//
//go:noescape
func touch(p *byte)
