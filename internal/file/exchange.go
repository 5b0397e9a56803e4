package file

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
)

// exchange carries out collectives of a file: in a call of the program, or in the file's goroutine, which
// must not wait in the engine: goroutines that do run operations that only the program's threads
// may call.
type exchange struct {
	f     *File
	apart bool        // in the file's goroutine
	call  call.Number // for errors of checking mode
}

func (x *exchange) do(k coll.Kind, a *coll.Args) error {
	a.Width, a.Call = 1, x.call
	if !x.apart {
		defer x.f.c.Begin(x.call)()
		return x.f.e.colls.Do(x.f.c, k, a)
	}
	e := x.f.e
	e.p.Lock()
	r, err := e.colls.Start(x.f.c, k, coll.Nonblocking, a)
	if err != nil {
		e.p.Unlock()
		return err
	}
	done := make(signal, 1)
	pending, err := e.p2p.SetWhole(r, done)
	e.p.Unlock()
	if !pending {
		return err
	}
	return <-done
}

// signal is a channel for the error of one collective.
type signal chan error

// PartDone implements p2p.Whole.
func (s signal) PartDone(part *p2p.Request) { s <- part.Status.Err }

// barrier returns when all members have called it.
func (x *exchange) barrier() error {
	if !x.apart {
		defer x.f.c.Begin(x.call)()
		return x.f.e.colls.Barrier(x.f.c)
	}
	return x.do(coll.Barrier, &coll.Args{})
}

// outcome ends an access in which some members have made system calls for all. Each member returns an
// error if any of them has failed: it does not know whose data it were.
func (x *exchange) outcome(failure error) error {
	word := int64(0)
	if failure != nil && !planted.FailureUntold {
		word = int64(classOf(failure))
	}
	told, err := x.allgather([]int64{word})
	if err != nil || failure != nil {
		return firstError(failure, err)
	}
	for r, c := range told {
		if c != 0 {
			return class.Errorf(toldClass(c), "rank %d, which accesses a part of the file for all members, has failed (%s)", r, className(toldClass(c)))
		}
	}
	return nil
}

// allgather gives the numbers of all members to all.
func (x *exchange) allgather(mine []int64) ([]int64, error) {
	give, all := make([]byte, 8*len(mine)), make([]byte, 8*len(mine)*x.f.c.Size())
	encode(give, mine)
	if err := x.do(coll.Allgather, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all)}); err != nil {
		return nil, err
	}
	return decode(all), nil
}

// alltoall gives each member its share of the numbers.
func (x *exchange) alltoall(mine []int64) ([]int64, error) {
	give, all := make([]byte, 8*len(mine)), make([]byte, 8*len(mine))
	encode(give, mine)
	if err := x.do(coll.Alltoall, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all)}); err != nil {
		return nil, err
	}
	return decode(all), nil
}

// bcast gives the number of rank 0 to all.
func (x *exchange) bcast(n int64) (int64, error) {
	var b [8]byte
	encode(b[:], []int64{n})
	err := x.do(coll.Bcast, &coll.Args{Recv: coll.Bytes(b[:])})
	return decode(b[:])[0], err
}

func encode(b []byte, list []int64) {
	for i, v := range list {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}

func decode(b []byte) []int64 {
	list := make([]int64, len(b)/8)
	for i := range list {
		list[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return list
}
