package file

import (
	"encoding/binary"
	"sync"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Collective calls on a file use its communicator in the order in which the program makes them. Those
// that do not block are carried out by one goroutine for each file, which ends when nothing is left;
// a call that blocks first waits until that goroutine is done. So all members use the communicator
// in the same order.
//
// Rejected: workers of the pool. A worker waits for other members, and these may have the files in
// another order: all workers could wait for accesses for which elsewhere no worker is left.

// line is the collective calls of a file that do not block and are not complete.
type line struct {
	mu    sync.Mutex
	empty sync.Cond // its L is mu
	queue []func()
	busy  bool // the goroutine runs
}

// add has the file's goroutine call do, after what has been added before.
func (l *line) add(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, do)
	if !l.busy {
		l.busy = true
		go l.work()
	}
}

func (l *line) work() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 {
		do := l.queue[0]
		l.queue[0] = nil
		l.queue = l.queue[1:]
		l.mu.Unlock()
		do()
		l.mu.Lock()
	}
	l.queue, l.busy = nil, false
	l.empty.Broadcast()
}

// wait returns when nothing is left.
func (l *line) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.busy {
		l.empty.Wait()
	}
}

// crew carries out collectives of a file: in a call of the program, or in the file's goroutine, which
// must not wait in the engine: goroutines that do run operations that only the program's threads
// may call.
type crew struct {
	f     *File
	apart bool   // in the file's goroutine
	call  string // for errors of checking mode
}

func (x *crew) do(k coll.Kind, a *coll.Args) error {
	a.Width, a.Call = 1, x.call
	if !x.apart {
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

// allgather gives the numbers of all members to all.
func (x *crew) allgather(mine []int64) ([]int64, error) {
	give, all := make([]byte, 8*len(mine)), make([]byte, 8*len(mine)*x.f.c.Size())
	encode(give, mine)
	if err := x.do(coll.Allgather, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all)}); err != nil {
		return nil, err
	}
	return decode(all), nil
}

// alltoall gives each member its share of the numbers.
func (x *crew) alltoall(mine []int64) ([]int64, error) {
	give, all := make([]byte, 8*len(mine)), make([]byte, 8*len(mine))
	encode(give, mine)
	if err := x.do(coll.Alltoall, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all)}); err != nil {
		return nil, err
	}
	return decode(all), nil
}

// bcast gives the number of rank 0 to all.
func (x *crew) bcast(n int64) (int64, error) {
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

// classTold is a class that another member has told by number.
func classTold(n int64) class.Class {
	if name, _ := class.Describe(class.Class(n)); name == "" {
		return class.Intern
	}
	return class.Class(n)
}
