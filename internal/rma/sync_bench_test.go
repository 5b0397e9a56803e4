package rma_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// BenchmarkSynchronisation measures uncontended synchronisation of mapped memory.
func BenchmarkSynchronisation(b *testing.B) {
	all := everyone(1)
	for name, f := range map[string]func(v *rma.View) error{
		"lock":       func(v *rma.View) error { return first2(v.Lock(true, 0, 0), v.Unlock(0)) },
		"lock all":   func(v *rma.View) error { return first2(v.LockAll(0), v.UnlockAll()) },
		"unchecked":  func(v *rma.View) error { return first2(v.Lock(true, 0, rma.ModeNoCheck), v.Unlock(0)) },
		"fence":      func(v *rma.View) error { return v.Fence(0) },
		"post start": func(v *rma.View) error { return first2(v.Post(all, 0), v.Start(all, 0), v.Complete(), v.Wait()) },
		"nobody":     func(v *rma.View) error { return first2(v.Post(nil, 0), v.Start(nil, 0), v.Complete(), v.Wait()) },
	} {
		b.Run(name, func(b *testing.B) { benchmarkOn(b, func(*rma.View) error { return nil }, f) })
	}
	b.Run("flush", func(b *testing.B) {
		benchmarkOn(b, func(v *rma.View) error { return v.LockAll(0) }, func(v *rma.View) error { return v.Flush(0) })
	})
}

// benchmarkOn measures f on a window of one.
func benchmarkOn(b *testing.B, before, f func(v *rma.View) error) {
	err := world.RunGoroutines("shm", 1, func(w *world.World) error {
		v, err := allocated(w, w.Comm, 64)
		if err == nil {
			err = before(v)
		}
		if err != nil {
			return err
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := f(v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
