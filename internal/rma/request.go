package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// PutRequest is PutBytes with a request that is complete when the program may reuse the bytes
// (MPI_RPUT). On mapped memory the put is complete at once. Its request is then that of the window,
// unless that is in use: see p2p.Engine.NewReusable.
func (v *View) PutRequest(origin []byte, target int, disp int64) (*p2p.Request, error) {
	const by = call.Rput
	if v.atOnce(target, disp, len(origin)) {
		if err := v.PutBytes(origin, target, disp); err != nil {
			return nil, err
		}
		return v.reused(by), nil
	}
	return v.Issue(&operation.Op{Kind: operation.Put, Done: operation.Local, Origin: mem.Of(origin), Disp: disp, Call: by}, target)
}

// GetRequest is GetBytes with a request that is complete when the result is there (MPI_RGET), as
// PutRequest is for puts.
func (v *View) GetRequest(result []byte, target int, disp int64) (*p2p.Request, error) {
	const by = call.Rget
	if v.atOnce(target, disp, len(result)) {
		if err := v.GetBytes(result, target, disp); err != nil {
			return nil, err
		}
		return v.reused(by), nil
	}
	return v.Issue(&operation.Op{Kind: operation.Get, Done: operation.Local, Result: mem.Of(result), Disp: disp, Call: by}, target)
}

// atOnce reports whether PutBytes and GetBytes of n bytes at a displacement are complete when they
// return, in an epoch that permits operations with requests.
func (v *View) atOnce(target int, disp int64, n int) bool {
	rec := v.opened(target)
	return rec != nil && v.Passive(target) && room(rec, disp, n) >= 0
}

// reused returns a request that is complete.
func (v *View) reused(by call.Number) *p2p.Request {
	if r := v.w.reusable; r.Reuse() {
		return r
	}
	return v.completed(by)
}
