package rma

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

const (
	// kernelPiece is how much the kernel copies while the engine's lock is held, in bytes; others
	// may take the lock in between.
	kernelPiece = 256 << 10
	// kernelSlices is how many blocks of the own memory one system call takes.
	kernelSlices = 64
)

// copy carries out an access to memory that is not mapped here, of a process of the node, by an
// offer or by the kernel. It reports false if it could not.
func (e *Engine) copy(t *target, a *operation.Op, off uint64) bool {
	e.p.Lock()
	defer e.p.Unlock()
	if e.p.DownCause(int(t.Process)) != nil {
		return false
	}
	if e.offered(t, a, off) {
		return true
	}
	if !e.copies(t, a, off, true) {
		return false
	}
	e.allow(t)
	return true
}

// byFrame reports whether a put goes by a frame although the kernel could copy it: a short one, in an epoch of Start. The
// frame of Complete follows, in the same line of the ring if there is room, and the target takes both when it waits for the
// end of its epoch. Nobody waits for an answer in between, and a frame costs a tenth of the system call. Some of those that
// follow longer puts do not come here: the kernel copies what Engine.allow has counted.
func (t *target) byFrame(a *operation.Op) bool {
	if t.path != pathKernel || a.Kind != operation.Put || a.Size() > offerMax || !a.Contiguous() {
		return false
	}
	g := t.rec.Gate.Load()
	return g == gateOpen || g == gateWaiting
}

// copies carries out a put or get by the kernel. It reports false if it could not: the memory at
// the target must be of a process of the node, and its blocks so long that a system call for each
// costs less than a frame. The lock is held; with yields it is released now and then.
//
// Cost: for each block at the target a system call and a copy, and no time of the target.
func (e *Engine) copies(t *target, a *operation.Op, off uint64, yields bool) bool {
	if a.Kind != operation.Put && a.Kind != operation.Get {
		return false
	}
	addr, size := t.rec.Addr+off, a.Size()
	switch t.path {
	case pathKernel:
	case pathDynamic:
		lo, hi, err := a.Place.Span(size)
		if err != nil || !e.canCopy(t.Process) {
			return false
		}
		if f, err := t.lookupLocked(off+uint64(lo), off+uint64(hi)); err != nil || f == nil || f.mapped {
			return false
		}
		addr = off
	default:
		return false
	}
	return e.copyTo(t, a, addr, yields)
}

// copyTo is copies with the address at the target.
func (e *Engine) copyTo(t *target, a *operation.Op, addr uint64, yields bool) bool {
	size := a.Size()
	if a.Place.Type == nil {
		return e.copyBlock(t, a, addr, 0, size, yields)
	}
	b, err := dtype.At(nil, a.Place.Type, a.Place.Count) // only its runs are used
	if err != nil || !b.Gathers() {
		return false
	}
	var runs [16]dtype.Run
	for at := int64(0); at < size; {
		k, next := b.Runs(runs[:], at, size-at)
		for _, r := range runs[:k] {
			if !e.copyBlock(t, a, addr+uint64(r.Off), at, r.Len, yields) {
				return false
			}
			at += r.Len
		}
		at = next
	}
	return true
}

// copyBlock copies n packed bytes of the origin, from at on, to or from an address of the
// target. It reports false if the kernel refuses.
func (e *Engine) copyBlock(t *target, a *operation.Op, addr uint64, at, n int64, yields bool) bool {
	near, process := a.Memory(), int(t.Process)
	for n > 0 {
		k, next, packed := e.blocks(near, at, min(n, kernelPiece))
		var err error
		if a.Kind == operation.Put {
			if packed != nil {
				near.Pack(packed, int(at))
			}
			err = e.node.Write(process, e.iov[:k], addr)
		} else {
			err = e.node.Read(process, e.iov[:k], addr)
			if err == nil && packed != nil {
				near.Unpack(packed, int(at))
			}
		}
		clear(e.iov[:k])
		if err != nil {
			return false
		}
		addr += uint64(next - at)
		n -= next - at
		at = next
		if n > 0 && yields {
			e.p.Unlock()
			e.p.Lock()
		}
	}
	return true
}

// blocks fills e.iov with the memory of at most n packed bytes from at on. It returns the number of
// blocks, and the byte behind. If the memory must be packed or unpacked, the block is packed.
func (e *Engine) blocks(m mem.Mem, at, n int64) (k int, next int64, packed []byte) {
	if m.Gathers() {
		k, to := m.Blocks(e.iov[:], int(at), int(at+n))
		return k, int64(to), nil
	}
	if e.stage == nil {
		e.stage = make([]byte, kernelPiece)
	}
	packed = e.stage[:n]
	e.iov[0] = packed
	return 1, at + n, packed
}
