package coll

import (
	"github.com/halo-mpi/halo/internal/coll/args"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
)

// The arguments of collectives are those of package args. Callers of the engine find them here, too.
type (
	Args  = args.Args
	Side  = args.Side
	Pairs = args.Pairs
)

// The values of Args.Root on an intercommunicator beside ranks.
const (
	RootSelf = args.RootSelf
	RootNone = args.RootNone
)

// Slice returns the side of a slice with elements of a code.
func Slice(b []byte, code dtype.Code) Side { return args.Slice(b, code) }

// Bytes returns the side of a slice of bytes.
func Bytes(b []byte) Side { return args.Bytes(b) }

// Elements returns the side of a Buffer, an empty side without one.
func Elements(b *dtype.Buffer) Side { return args.Elements(b) }

// Significant reports whether Send and Recv are significant at the caller.
func Significant(c *comm.Comm, k Kind, root int) (send, recv bool) {
	return args.Significant(c, k, root)
}
