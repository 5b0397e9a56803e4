package slot

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Longer contributions go through the stages, in steps with a number each: each member copies a part
// of its contribution to its stage, all members meet, and each copies what it needs from the stages
// of the others. Meanwhile a faster member fills the stage of the next step, so that a step needs one
// meeting.
//
// All data is copied twice, and in the middle it is in the caches: both copies take a third to three quarters of the
// time of one copy by process_vm_readv. They need no permission of the kernel, and no member answers another
// one, which matters most with more members than cores.

// stage returns the memory for the contribution of the member of rank r to the step of a number.
func (s *Slot) stage(r int, number uint64) *[shmfmt.StageSize]byte {
	if s.stages == nil {
		s.stages = s.mem.Stages(len(s.cells))
		s.Stages = uintptr(unsafe.Pointer(s.stages[0])) // the others follow it
	}
	return &s.stages[r][number&1]
}

// begin begins the next step and returns the own stage, free to be filled.
func (s *Slot) begin() (*[shmfmt.StageSize]byte, error) {
	s.Number++
	return s.stage(s.me, s.Number), s.settle()
}

// show publishes the own stage and waits until all members have published theirs.
func (s *Slot) show() error {
	s.state()
	s.own.Said[s.Number&1] = s.Terms.Digest
	shmfmt.Publish(&s.own.Number, s.Number)
	return s.compare()
}

// exchange gives send and waits until all members have given: data then returns their contributions.
func (s *Slot) exchange(send mem.Mem) error {
	s.Number++
	if err := s.give(send); err != nil {
		return err
	}
	return s.compare()
}

// Tell is a short Bcast in which no member runs ahead of another.
func (s *Slot) Tell(buf []byte, root int) error {
	s.Kind = uint8(kind.Bcast)
	s.Terms.Name(kind.Bcast, root)
	s.Terms.Say(dtype.Mixed, dtype.Mixed, len(buf))
	err := s.exchange(mem.Of(buf))
	if err == nil && root != s.me {
		copy(buf, s.data(root, len(buf)))
	}
	return err
}

// Allgather puts what the members give into recv, in the order of the ranks.
func (s *Slot) Allgather(send, recv mem.Mem, gives, gets dtype.Code) error {
	s.Kind = uint8(kind.Allgather)
	s.Terms.Say(gives, gets, send.Len())
	n, me := send.Len(), s.me
	b, row := recv.Bytes()
	for at := 0; at < n; at += shmfmt.StageSize {
		k := min(shmfmt.StageSize, n-at)
		if err := s.exchange(send.Cut(at, at+k)); err != nil {
			return err
		}
		for r := range s.cells {
			if r == me {
				continue
			}
			if row {
				copy(b[r*n+at:], s.data(r, k))
			} else {
				recv.Unpack(s.data(r, k), r*n+at)
			}
		}
	}
	if own := recv.Cut(me*n, (me+1)*n); !mem.Same(own, send) {
		mem.Copy(own, send)
	}
	return nil
}

// Alltoall puts into a stage a part of the block for each other member, in the order of their ranks.
func (s *Slot) Alltoall(send, recv mem.Mem, gives, gets dtype.Code) error {
	s.Kind = uint8(kind.Alltoall)
	s.Terms.Say(gives, gets, send.Len())
	n, me := len(s.cells), s.me
	size := send.Len() / n
	if send.Len() <= shmfmt.SlotShort {
		return s.alltoallShort(send, recv, size)
	}
	part := min(size, shmfmt.StageSize/(n-1)&^(shmfmt.Line-1))
	for at := 0; at < size; at += part {
		k := min(part, size-at)
		own, err := s.begin()
		if err != nil {
			return err
		}
		for r := range n {
			if r != me {
				send.Pack(own[other(r, me)*part:][:k], r*size+at)
			}
		}
		if err := s.show(); err != nil {
			return err
		}
		for i := 1; i < n; i++ { // no two members begin with the same one
			r := (me + i) % n
			recv.Unpack(s.stage(r, s.Number)[other(me, r)*part:][:k], r*size+at)
		}
	}
	if !mem.Same(send, recv) {
		mem.Copy(recv.Cut(me*size, (me+1)*size), send.From(me*size))
	}
	return nil
}

// other returns the position of rank r among all ranks but one.
func other(r, one int) int {
	if r > one {
		return r - 1
	}
	return r
}

func (s *Slot) alltoallShort(send, recv mem.Mem, size int) error {
	if err := s.exchange(send); err != nil {
		return err
	}
	mine := s.me * size
	b, row := recv.Bytes()
	for r := range s.cells {
		if part := s.data(r, send.Len())[mine : mine+size]; row {
			copy(b[r*size:], part)
		} else {
			recv.Unpack(part, r*size)
		}
	}
	return nil
}

// allreduceLong reduces the operands in chunks. In a step each member gives its operand of
// a chunk and its share of the result of the chunk before, which it has combined
// from the operands of all, in the order of the ranks.
func (s *Slot) allreduceLong(send, recv []byte, o op.Op, t op.Type) error {
	n, w := len(s.cells), t.Size()
	count := len(send) / w
	most := shmfmt.StageSize / w * n / (n + 1) // leaves room for the largest share
	chunks := (count + most - 1) / most
	chunk := (count + chunks - 1) / chunks
	share := func(elements, r int) (from, to int) { return elements * r / n * w, elements * (r + 1) / n * w }
	before := recv[:0] // the chunk before
	for lo := 0; lo < count || len(before) > 0; lo += chunk {
		now := send[min(lo, count)*w : min(lo+chunk, count)*w]
		own, err := s.begin()
		if err != nil {
			return err
		}
		copy(own[:], now)
		if err := s.show(); err != nil {
			return err
		}
		for r := range n {
			from, to := share(len(before)/w, r)
			copy(before[from:to], s.stage(r, s.Number)[chunk*w:])
		}
		if from, to := share(len(now)/w, s.me); to > from {
			// All members have left the step before, so the own stage for the next step is free.
			sum := s.stage(s.me, s.Number+1)[chunk*w:][:to-from]
			s.kernel.Apply(o, t, sum, s.stage(0, s.Number)[from:to], s.stage(1, s.Number)[from:to])
			for r := 2; r < n; r++ {
				s.kernel.Apply(o, t, sum, sum, s.stage(r, s.Number)[from:to])
			}
		}
		before = recv[min(lo, count)*w:][:len(now)]
	}
	return nil
}
