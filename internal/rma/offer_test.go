package rma

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// do is the operation of an offer.
func do(k operation.Kind, o op.Op, t op.Type) uint32 {
	return uint32(k) | uint32(o)<<offerOp | uint32(t)<<offerType
}

// offering are offers that are done on a window of 1000 bytes, and what they are of.
var offering = map[string]shmfmt.OfferHead{
	"put":            {Do: do(operation.Put, 0, 0), Size: 8},
	"get":            {Do: do(operation.Get, 0, 0), Size: 8},
	"fetch_and_op":   {Do: do(operation.Accumulate, op.Sum, op.Int64), Size: 8},
	"get_accumulate": {Do: do(operation.Accumulate, op.Replace, op.Int32), Size: 32},
	"compare":        {Do: do(operation.CompareAndSwap, 0, op.Int64), Size: 8},
}

// An offer is carried out at its offset in the window that it names, for a member, and the target
// checks all of it; any other is refused and changes nothing (S5).
func TestS5_ForgedOffers(t *testing.T) {
	const size = 1000
	for _, flavor := range []Flavor{Created, Dynamic} {
		mem, all := guarded(size)
		e, w, _ := withFakePeers(t, flavor, mem)
		base := uint64(0)
		if flavor == Dynamic {
			base = uint64(address(mem))
		}
		offer := func(from int, h shmfmt.OfferHead) bool {
			var data, answer [shmfmt.OfferData]byte
			return e.TakeOffer(from, &h, &data, &answer)
		}
		for name, good := range offering {
			good.Window, good.At = w.id, base
			last := good
			last.At = base + size - uint64(good.Size)
			if !offer(enemy, good) || !offer(enemy, last) {
				t.Errorf("%s at an end of the memory is refused", name)
			}
			copy(all, bytes.Repeat([]byte{guard}, len(all)))
			bad := map[string]shmfmt.OfferHead{}
			change := func(what string, fn func(h *shmfmt.OfferHead)) {
				h := good
				fn(&h)
				bad[what] = h
			}
			change("another window", func(h *shmfmt.OfferHead) { h.Window++ })
			change("no bytes", func(h *shmfmt.OfferHead) { h.Size = 0 })
			change("too many bytes", func(h *shmfmt.OfferHead) { h.Size = size + 1 })
			change("more than an offer", func(h *shmfmt.OfferHead) { h.Size = math.MaxUint32 })
			change("another kind", func(h *shmfmt.OfferHead) { h.Do = h.Do&^0xff | uint32(operation.CompareAndSwap+1) })
			change("kind 255", func(h *shmfmt.OfferHead) { h.Do |= 0xff })
			for _, at := range []uint64{size - 7, size, size + 1, 1 << 63, math.MaxUint64, math.MaxUint64 - 7} {
				change("beyond", func(h *shmfmt.OfferHead) { h.At = base + at })
				for what, h := range bad {
					if offer(enemy, h) {
						t.Errorf("%s of %s at %d in a window of kind %v is done: %+v", what, name, at, flavor, h)
					}
				}
			}
			change("before", func(h *shmfmt.OfferHead) { h.At = base - 1 })
			if k := operation.Kind(good.Do & 0xff); k >= operation.Accumulate {
				change("no type", func(h *shmfmt.OfferHead) { h.Do = uint32(k) | uint32(op.Sum)<<offerOp })
				change("an unknown type", func(h *shmfmt.OfferHead) { h.Do |= 0xffff << offerType })
				change("half an element", func(h *shmfmt.OfferHead) { h.Size = 6 })
			}
			if operation.Kind(good.Do&0xff) == operation.Accumulate {
				change("an unknown operation", func(h *shmfmt.OfferHead) { h.Do |= 0xff << offerOp })
				change("an operation of other types", func(h *shmfmt.OfferHead) {
					h.Do = do(operation.Accumulate, op.Band, op.Float64)
				})
			}
			if operation.Kind(good.Do&0xff) == operation.CompareAndSwap {
				change("two elements", func(h *shmfmt.OfferHead) { h.Size = 16 })
			}
			for what, h := range bad {
				if offer(enemy, h) {
					t.Errorf("%s of %s in a window of kind %v is done: %+v", what, name, flavor, h)
				}
			}
			if offer(victim+enemy+1, good) {
				t.Errorf("%s of a process that is no member is done", name)
			}
			untouched(t, all)
		}
		e.p.Unlock() // the next engine is locked for itself
		e.p.Lock()
	}
}

// An offer has the same effect as the operation by frames.
func TestOffersAreDone(t *testing.T) {
	words := make([]uint64, 4)
	mem := make([]byte, 32)
	e, w, _ := withFakePeers(t, Created, mem)
	var data, answer [shmfmt.OfferData]byte
	step := func(k operation.Kind, o op.Op, typ op.Type, at uint64, n int, give ...uint64) uint64 {
		t.Helper()
		for i, x := range give {
			binary.LittleEndian.PutUint64(data[8*i:], x)
		}
		clear(answer[:])
		if !e.TakeOffer(enemy, &shmfmt.OfferHead{Window: w.id, At: at, Do: do(k, o, typ), Size: uint32(n)}, &data, &answer) {
			t.Fatalf("kind %d at %d is refused", k, at)
		}
		return binary.LittleEndian.Uint64(answer[:])
	}
	step(operation.Put, 0, 0, 8, 16, 40, 50)
	if got := step(operation.Get, 0, 0, 16, 8); got != 50 {
		t.Errorf("got %d", got)
	}
	if got := step(operation.Accumulate, op.Sum, op.Uint64, 8, 8, 2); got != 40 {
		t.Errorf("before the sum: %d", got)
	}
	if got := step(operation.Accumulate, op.Sum, op.Uint64, 8, 16, 1, 1); got != 42 {
		t.Errorf("before the sums: %d", got)
	}
	if got := step(operation.Accumulate, op.NoOp, op.Uint64, 8, 8); got != 43 {
		t.Errorf("read: %d", got)
	}
	if got := step(operation.CompareAndSwap, 0, op.Uint64, 8, 8, 43, 7); got != 43 {
		t.Errorf("before the swap: %d", got)
	}
	if got := step(operation.CompareAndSwap, 0, op.Uint64, 8, 8, 43, 8); got != 7 {
		t.Errorf("before the swap that is none: %d", got)
	}
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(mem[8*i:])
	}
	if words[0] != 0 || words[1] != 7 || words[2] != 51 || words[3] != 0 {
		t.Errorf("the memory is %d", words)
	}
}
