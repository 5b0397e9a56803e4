package histories_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/halo-mpi/halo/mpi"
)

// issued is an operation, and its memory at the origin.
type issued struct {
	*rmaOp
	data, result, compare *placed
	kept                  []byte // copy of the data's memory, which must not change
	sent                  []byte // the data, packed
	before                []byte // the result's memory before
	got                   []byte // the result's memory when the operation was complete
	storm                 storm
	request               mpi.Request
	pending               bool // the program has not waited for the request
	done                  bool
}

// lay allocates and fills the memory of the operation at the origin.
func (o *issued) lay() (err error) {
	r := rand.New(rand.NewPCG(o.seed, 7))
	if o.rmaOp.data.m != nil {
		o.data, err = o.side(&o.rmaOp.data, r)
		if err != nil {
			return err
		}
		if o.accumulates() {
			o.data.unpack(o.data.mem, o.data.origin, o.values)
		}
		o.kept, o.sent = bytes.Clone(o.data.mem), o.data.data()
	}
	if o.rmaOp.result.m != nil {
		o.result, err = o.side(&o.rmaOp.result, r)
		if err != nil {
			return err
		}
		o.before = bytes.Clone(o.result.mem)
	}
	if o.kind == isCompareAndSwap {
		o.compare, err = o.side(&o.rmaOp.data, r)
		if err != nil {
			return err
		}
		o.compare.unpack(o.compare.mem, o.compare.origin, o.rmaOp.before)
	}
	return nil
}

// side lays out the memory of one half of the operation. For accumulates on pairs it includes the
// padding of the last element, as a slice of structs does.
func (o *issued) side(h *half, r *rand.Rand) (*placed, error) {
	if o.kind < isAccumulate || elementOf(o.elem).size == elementOf(o.elem).packedSize() {
		return h.lay(r)
	}
	d, err := datatypeOf(h.spec)
	if err != nil {
		return nil, err
	}
	if err := d.Commit(); err != nil {
		return nil, err
	}
	_, hi := h.bounds()
	m := &placed{half: h, mem: make([]byte, hi+r.Int64N(9)+8)}
	m.fill(r)
	m.endpoint = buffer{mpi.BufOf(m.mem, int(h.count), d)}
	return m, nil
}

// complete records the results of the operation, and overwrites its memory, which the program
// may use again.
func (o *issued) complete() error {
	if o.done {
		return nil
	}
	o.done = true
	if o.data != nil && o.kind != isUpdate && !bytes.Equal(o.data.mem, o.kept) {
		return fmt.Errorf("%v has changed what it was to send", o)
	}
	if o.result != nil {
		o.got = bytes.Clone(o.result.mem)
	}
	o.scramble()
	return nil
}

// scramble fills the memory with bytes that no operation should send or overwrite.
func (o *issued) scramble() {
	for i, m := range []*placed{o.data, o.result, o.compare} {
		if m != nil {
			fill(m.mem, o.seed+uint64(i))
		}
	}
}

// untouched reports whether the memory still has the bytes of scramble.
func (o *issued) untouched() bool {
	for i, m := range []*placed{o.data, o.result, o.compare} {
		if m != nil && !bytes.Equal(m.mem, payload(len(m.mem), o.seed+uint64(i))) {
			return false
		}
	}
	return true
}
