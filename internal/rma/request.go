package rma

import (
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Rput is Put with a request, which is complete when origin may be used again (MPI_RPUT).
func (v *View) Rput(origin Data, target int, disp int64, l Layout) (*p2p.Request, error) {
	return v.carryOut(&access{kind: kindPut, origin: origin, disp: disp, layout: l}, target, "Rput")
}

// Rget is Get with a request, which is complete when result is there (MPI_RGET).
func (v *View) Rget(result Data, target int, disp int64, l Layout) (*p2p.Request, error) {
	return v.carryOut(&access{kind: kindGet, result: result, disp: disp, layout: l}, target, "Rget")
}

// Raccumulate is Accumulate with a request (MPI_RACCUMULATE).
func (v *View) Raccumulate(origin Data, target int, disp int64, l Layout, o op.Op, t op.Type) (*p2p.Request, error) {
	a := access{kind: kindAccumulate, op: o, typ: t, origin: origin, disp: disp, layout: l}
	return v.carryOut(&a, target, "Raccumulate")
}

// RgetAccumulate is GetAccumulate with a request (MPI_RGET_ACCUMULATE).
func (v *View) RgetAccumulate(origin, result Data, target int, disp int64, l Layout, o op.Op, t op.Type) (*p2p.Request, error) {
	a := access{kind: kindAccumulate, op: o, typ: t, origin: origin, result: result, disp: disp, layout: l}
	return v.carryOut(&a, target, "RgetAccumulate")
}
