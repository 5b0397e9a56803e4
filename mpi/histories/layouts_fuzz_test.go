package histories_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
)

// FuzzMessages derives from bytes a few messages between two layouts each, and compares the
// results with the typemaps.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("from a vector of structs"))
	f.Add([]byte("to a subarray, and what does not fit is cut"))
	f.Add([]byte{1, 0, 200, 130, 255, 3, 3, 90, 41, 17, 250})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := dtypetest.FromBytes(data)
		var all []*exchange
		for range 1 + r.IntN(3) {
			x := newExchange(r)
			if send, _, ok := x.halves(); ok && send.count*send.m.Size() <= 128<<10 { // prefer many messages to long ones
				all = append(all, x)
			}
		}
		if err := runAlone("inproc", all); err != nil {
			t.Fatalf("%v", describeExchanges(all, err))
		}
	})
}
