package mpi_test

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// inProgram is on the stack of the goroutines of the program.
//
//go:noinline
func inProgram(f func()) { f() }

// isInProgram reports whether the goroutine is one of the program.
func isInProgram() bool {
	var list [128]uintptr
	frames := runtime.CallersFrames(list[:runtime.Callers(0, list[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "mpi_test.inProgram") {
			return true
		}
		if !more {
			return false
		}
	}
}

// An operation of InCalls runs on goroutines that are inside any call: in blocking and
// nonblocking reductions that are waited for or tested, or while the goroutine waits for
// something else.
func TestOperationsRunInCalls(t *testing.T) {
	for _, n := range []int{2, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			var calls, elsewhere atomic.Int64
			o := mpi.Internals.InCalls(mpi.CreateOp(func(in, inout []int64) {
				calls.Add(1)
				if !isInProgram() {
					elsewhere.Add(1)
				}
				for i := range in {
					inout[i] += in[i]
				}
			}, true))
			d, err := c.Dup()
			ok(t, err)
			inProgram(func() {
				for turn := range 30 {
					in, out := make([]int64, []int{1, 100, 9000}[turn%3]), make([]int64, []int{1, 100, 9000}[turn%3])
					for i := range in {
						in[i] = int64(c.Rank() + turn)
					}
					if turn%6 == 0 {
						ok(t, mpi.Allreduce(c, in, out, o))
					} else {
						q := mpi.Iallreduce(c, in, out, o)
						switch turn % 6 {
						case 1:
							ok(t, d.Barrier())
						case 2, 3:
							for done := false; !done; {
								var err error
								_, done, err = q.Test()
								ok(t, err)
							}
						case 4: // rank 0 completes it before it lets the others continue
							if c.Rank() == 0 {
								_, err := q.Wait()
								ok(t, err)
								for r := 1; r < n; r++ {
									ok(t, mpi.Send(d, []byte{1}, r, 0))
								}
							} else {
								_, err := mpi.Recv(d, make([]byte, 1), 0, 0)
								ok(t, err)
							}
						}
						_, err := q.Wait()
						ok(t, err)
					}
					for _, v := range out {
						if want := int64(n*(n-1)/2 + n*turn); v != want {
							t.Fatalf("turn %d: %d, want %d", turn, v, want)
						}
					}
				}
			})
			if calls.Load() == 0 || elsewhere.Load() != 0 {
				t.Errorf("%d of %d calls of the operation were by other goroutines", elsewhere.Load(), calls.Load())
			}
			if o.IsNull() || !mpi.Internals.InCalls(mpi.OpNull).IsNull() || !o.Commutative() {
				t.Error("an operation changes into another one")
			}
			ok(t, d.Free())
		})
	}
}
