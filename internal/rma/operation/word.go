package operation

import (
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
)

// # Operations in the word Aux of a frame
//
// The word has the number of the reduction, the type of the elements, and the floating-point environment of the origin.

// Where the type begins, and the environment.
const (
	accType = 8
	accEnv  = 24
)

// AccumulateWord is Aux of an accumulate.
func AccumulateWord(o op.Op, t op.Type) uint32 {
	if planted.EnvironmentDropped {
		o = o.Bare()
	}
	return uint32(o.Bare()) | uint32(t)<<accType | uint32(o.Env())<<accEnv
}

// ParseAccumulate is the inverse of AccumulateWord, of a word that a peer may have chosen. It reports
// false for an environment that makes no difference to the operation, which origins leave out.
func ParseAccumulate(aux uint32) (o op.Op, t op.Type, ok bool) {
	o, t = op.Op(aux&(1<<accType-1)).In(op.Env(aux>>accEnv)), op.Type(aux>>accType)
	return o, t, o.On(t) == o
}

// CompareWord is Aux of a compare-and-swap.
func CompareWord(t op.Type) uint32 { return uint32(t) << accType }

// ParseCompare is the inverse of CompareWord, of a word that a peer may have chosen. The type may be none.
func ParseCompare(aux uint32) (t op.Type, ok bool) {
	return op.Type(aux >> accType), aux>>accEnv == 0 && aux&(1<<accType-1) == 0
}
