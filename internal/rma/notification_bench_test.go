package rma_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// BenchmarkNotification measures what a notification costs on mapped memory beside the operation,
// where nobody waits for it.
func BenchmarkNotification(b *testing.B) {
	lock := func(v *rma.View) error { return v.LockAll(0) }
	bytes := make([]byte, 8)
	data := mem.Of(bytes)
	b.Run("put", func(b *testing.B) {
		benchmarkOn(b, lock, func(v *rma.View) error { return v.Put(data, 0, 8, operation.Place{}) })
	})
	b.Run("put notify", func(b *testing.B) {
		benchmarkOn(b, lock, func(v *rma.View) error { return v.PutNotify(bytes, 0, 8, 5) })
	})
	b.Run("signal", func(b *testing.B) {
		benchmarkOn(b, lock, func(v *rma.View) error { return v.Signal(0, 5) })
	})
}
