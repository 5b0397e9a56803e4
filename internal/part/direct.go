package part

import (
	"errors"
	"syscall"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// direct is how a sender reaches the buffer of its receive without frames. It does not change.
type direct struct {
	block  shmfmt.Partitions
	size   int     // bytes of a partition of the receive
	dst    mem.Mem // the receive buffer, if it is mapped here or of this process
	own    *Recv   // the receive, if it is of this process
	node   *node.Node
	peer   int      // process of the receive
	addr   uint64   // of the buffer there, if it is not mapped: the kernel copies
	pid    int32    // of that process
	blocks [][]byte // for the kernel: one for each partition of the send, so that none is allocated
}

// briefMax is up to how many bytes the kernel copies without notifying the scheduler of Go, see
// sys.CopyTo.
const briefMax = 16 << 10

// reach returns how s reaches the buffer that where describes, nil if frames have to carry the data.
func (e *Engine) reach(s *Send, w *where) *direct {
	d := &direct{peer: int(s.peer), node: e.node}
	if s.peer == e.me {
		r := e.recvs.Find(s.remote)
		if r == nil {
			return nil
		}
		d.block, d.size, d.dst, d.own = r.block, r.size, r.mem, r
		return d
	}
	if w.block == 0 || w.parts == 0 || s.mem.Len() == 0 || uint64(s.mem.Len())%w.parts != 0 || !e.p.Near(d.peer) {
		return nil
	}
	d.size = s.mem.Len() / int(w.parts)
	q := e.peers.At(d.peer)
	if q.view == nil {
		q.view = e.node.View(d.peer)
	}
	m, err := q.view.Memory(int64(w.block-1), shmfmt.PartitionsSize(int64(w.parts)))
	if err != nil {
		return nil
	}
	d.block, err = shmfmt.OpenPartitions(m, int64(w.parts))
	if err != nil {
		return nil
	}
	if w.buffer != 0 {
		b, err := q.view.Memory(int64(w.buffer-1), int64(s.mem.Len()))
		if err != nil {
			return nil
		}
		d.dst = mem.Of(b)
		return d
	}
	if w.addr == 0 || !s.mem.Contiguous() || e.p.Reader(d.peer) == nil || !e.node.CanWrite(d.peer) {
		return nil
	}
	d.addr = w.addr
	d.pid, _ = e.node.Process(d.peer)
	d.blocks = make([][]byte, len(s.marked))
	return d
}

// copy copies the bytes [from, to) of s to the receiver's buffer. It needs no lock.
func (d *direct) copy(s *Send, from, to int) error {
	if from == to {
		return nil
	}
	if d.blocks == nil {
		if src, ok := s.mem.Bytes(); ok {
			if dst, ok := d.dst.Bytes(); ok {
				dtype.Move(dst[from:to], src[from:to])
				return nil
			}
		}
		mem.Copy(d.dst.Cut(from, to), s.mem.Cut(from, to))
		return nil
	}
	src, _ := s.mem.Bytes()
	if to-from <= briefMax && !d.node.Gone(d.peer) && sys.CopyTo(int(d.pid), d.addr+uint64(from), src[from:to]) {
		return nil
	}
	block := d.blocks[from/s.size:][:1] // of this caller: a partition is moved once
	block[0] = src[from:to]
	err := d.node.Write(d.peer, block, d.addr+uint64(from))
	block[0] = nil
	return err
}

// arrive counts the bytes [from, to) of the message for the partitions of the receive. It needs no
// lock.
func (d *direct) arrive(from, to int) { arrive(d.block, d.size, from, to) }

func arrive(b shmfmt.Partitions, size, from, to int) {
	if from == to {
		return
	}
	for i := from / size; from < to; i++ {
		end := min(to, (i+1)*size)
		b.Arrive(i, uint64(end-from))
		from = end
	}
}

// finish tells the receiver that all bytes of a round are there. It needs no lock.
func (d *direct) finish(e *Engine, round uint64) {
	d.block.Finish(round)
	if d.own == nil && !planted.PartitionsNotRung {
		e.node.Ring(e.node.LocalIndex(d.peer))
	}
}

// moved ends a round whose partitions are all at the receiver.
func (e *Engine) moved(s *Send, d *direct) {
	e.finishSend(s, nil)
	if d != nil && d.own != nil {
		e.workRecvs()
	}
}

// refused handles the kernel's refusal to copy for s. If the receiver has died, Down follows.
func (e *Engine) refused(s *Send, err error) {
	if !s.active || e.p.DownCause(int(s.peer)) != nil || e.node.Gone(int(s.peer)) || errors.Is(err, syscall.ESRCH) {
		return
	}
	b, _ := s.mem.Bytes()
	e.fail(s, class.Errorf(class.Buffer, "the kernel cannot copy from the %d bytes at %p of the send to the receive buffer of rank %d: %v",
		len(b), unsafe.SliceData(b), s.comm.RankOf(s.peer), err))
}
