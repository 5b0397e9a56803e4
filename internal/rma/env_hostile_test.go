package rma

import (
	"bytes"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// Whatever a peer says is the floating-point environment of its accumulate, it is used for that
// accumulate alone, or refused if no correct process says it: nothing traps, and later computations
// are as before. The same holds for offers (S5).
func TestS5_EnvironmentsOfPeers(t *testing.T) {
	for _, typ := range []op.Type{op.Float64, op.Float32, op.Float80, op.Float16, op.Complex64, op.Int64} {
		for env := range 256 {
			e := op.Env(env)
			o := op.Sum.In(e)
			size := typ.Size()
			before, with := make([]byte, size), bytes.Repeat([]byte{0x3b}, size)
			for i := range before {
				before[i] = byte(0x11 * (i%3 + 1))
			}
			want := bytes.Clone(before) // where the elements have gaps, these stay
			op.Apply(o, typ, want, before, with)
			legal := o.On(typ) == o

			mem, _ := guarded(size)
			copy(mem, before)
			engine, _, f := withFakePeers(t, Created, mem)
			deliver(engine, wire.Header{Kind: wire.WinAcc, Aux: uint32(op.Sum) | uint32(typ)<<auxType | uint32(e)<<auxEnv}, with)
			checkEnvironment(t, "a frame", typ, e, legal, len(f.lost) == 0, mem, before, want)
			f.down(engine, enemy)

			copy(mem, before)
			engine, w, _ := withFakePeers(t, Created, mem)
			var data, answer [shmfmt.OfferData]byte
			copy(data[:], with)
			h := shmfmt.OfferHead{Window: w.id, Do: do(operation.Accumulate, op.Sum, typ), Size: uint32(size) | uint32(e)<<offerEnv}
			done := engine.TakeOffer(enemy, &h, &data, &answer)
			checkEnvironment(t, "an offer", typ, e, legal, done, mem, before, want)
			h = shmfmt.OfferHead{Window: w.id, Do: do(operation.Put, 0, 0), Size: uint32(size) | uint32(e|1)<<offerEnv}
			if engine.TakeOffer(enemy, &h, &data, &answer) {
				t.Fatalf("a put in environment %#x is done", e)
			}
			if s := 1 + 1e-20*float64(size); s != 1 {
				t.Fatalf("after an accumulate of %v in %#x 1 + %de-20 is %v", typ, e, size, s)
			}
		}
	}
}

func checkEnvironment(t *testing.T, by string, typ op.Type, e op.Env, legal, done bool, mem, before, want []byte) {
	t.Helper()
	if !legal {
		want = before
	}
	if done != legal || !bytes.Equal(mem, want) {
		t.Fatalf("%s with a sum of %v in %#x: done is %t, and %x has become %x, not %x", by, typ, e, done, before, mem, want)
	}
}
