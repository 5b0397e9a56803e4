package mpi_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// floodBytes is how many bytes each rank sends in the flood test. The environment variable
// HALO_TEST_FLOOD sets another value, in MiB; the issue names 4096.
func floodBytes() int {
	if s, err := strconv.Atoi(os.Getenv("HALO_TEST_FLOOD")); err == nil {
		return s << 20
	}
	if testrun.Race || testing.Short() {
		return 8 << 20
	}
	return 64 << 20
}

// memory is the memory of the process: the Go heap, and the resident part of shared memory.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse + residentShared()
}

// residentShared reads how much shared memory is resident, in bytes; 0 if the system does not
// report it.
func residentShared() uint64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(text, []byte("RssShmem:"))
	var kib uint64
	fmt.Sscan(string(after), &kib)
	return kib << 10
}

// Eight ranks flood one that does not receive. The memory for its messages is bounded, a message
// with a later tag is received first, and in the end all messages arrive.
func TestFlowControl_FloodOfSmallMessages(t *testing.T) {
	const senders, size, bound = 8, 4 << 10, 160 << 20
	per := floodBytes() / size
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			runtime.GC()
			before := memory()
			var sent, most atomic.Int64
			watch := func() {
				if now := int64(memory()) - int64(before); now > most.Load() {
					most.Store(now)
				}
			}
			mpitest.On(t, fabric, senders+1, func(t testing.TB, c *mpi.Comm) {
				const flood, later, latest = 0, 1, 2
				if c.Rank() > 0 {
					var wg sync.WaitGroup
					wg.Go(func() {
						b := make([]int64, size/8)
						for i := range per {
							b[0], b[len(b)-1] = int64(i), int64(c.Rank())
							if err := mpi.Send(c, b, 0, flood); err != nil {
								t.Error(err)
								return
							}
							sent.Add(1)
						}
					})
					for sent.Load() < 8*senders { // until the flood has begun
						time.Sleep(time.Millisecond)
					}
					r := mpi.Isend(c, []int{c.Rank()}, 0, later)
					_, err := r.Wait()
					ok(t, err)
					ok(t, mpi.Ssend(c, payload(300_000, uint64(c.Rank())), 0, latest))
					wg.Wait()
					return
				}
				rs := make([]mpi.Request, senders)
				word := make([][]int, senders)
				for i := range rs {
					word[i] = []int{0}
					rs[i] = mpi.Irecv(c, word[i], i+1, later)
				}
				for last, still := int64(-1), 0; still < 20; { // until no sender makes progress
					time.Sleep(5 * time.Millisecond)
					if now := sent.Load(); now == last {
						still++
					} else {
						last, still = now, 0
					}
					watch()
				}
				if got := sent.Load() * size; got > 64<<20 && int(got) < senders*per*size {
					t.Errorf("%d MiB were sent to a rank that does not receive", got>>20)
				}
				ok(t, mpi.Waitall(rs, nil))
				for i := senders; i >= 1; i-- { // long messages, too
					b := make([]byte, 300_000)
					_, err := mpi.Recv(c, b, i, latest)
					ok(t, err)
					wantPayload(t, b, len(b), uint64(i))
					if word[i-1][0] != i {
						t.Fatalf("later message of rank %d: %d", i, word[i-1][0])
					}
				}
				next := make([]int64, senders+1)
				b := make([]int64, size/8)
				for k := range per * senders {
					st, err := mpi.Recv(c, b, mpi.AnySource, flood)
					ok(t, err)
					if b[0] != next[st.Source] || b[len(b)-1] != int64(st.Source) {
						t.Fatalf("message %d of %d comes after %d", b[0], st.Source, next[st.Source]-1)
					}
					next[st.Source]++
					if k%50_000 == 0 {
						watch()
					}
				}
			})
			t.Logf("%d MiB to one rank that sleeps: at most %d MiB more than before", senders*per*size>>20, most.Load()>>20)
			if most.Load() > bound {
				t.Errorf("memory has grown by %d MiB, the bound is %d", most.Load()>>20, bound>>20)
			}
		})
	}
}

// The same for messages without payload, whose envelopes alone take memory.
func TestFlowControl_FloodOfEmptyMessages(t *testing.T) {
	const senders, per, bound = 4, 60_000, 64 << 20
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			runtime.GC()
			before := memory()
			var sent atomic.Int64
			mpitest.On(t, fabric, senders+1, func(t testing.TB, c *mpi.Comm) {
				if c.Rank() > 0 {
					for i := range per {
						ok(t, mpi.Send(c, []byte{}, 0, i))
						sent.Add(1)
					}
					return
				}
				for last, still := int64(-1), 0; still < 20; {
					time.Sleep(2 * time.Millisecond)
					if now := sent.Load(); now == last {
						still++
					} else {
						last, still = now, 0
					}
				}
				if grown := int64(memory()) - int64(before); grown > bound {
					t.Errorf("memory has grown by %d MiB, the bound is %d", grown>>20, bound>>20)
				}
				if sent.Load() == senders*per {
					t.Errorf("all %d messages were sent to a rank that does not receive", sent.Load())
				}
				next := make([]int, senders+1)
				for range per * senders {
					st, err := mpi.Recv(c, []byte{}, mpi.AnySource, mpi.AnyTag)
					ok(t, err)
					if st.Tag != next[st.Source] {
						t.Fatalf("message %d of %d after %d", st.Tag, st.Source, next[st.Source]-1)
					}
					next[st.Source]++
				}
			})
		})
	}
}

// A process that sends and never waits still processes the credit that its peers return. Here
// one goroutine is both sides, so that a send that waited for its receive would wait for ever.
func TestFlowControl_SenderFindsCredit(t *testing.T) {
	const size, messages = 1000, 10000 // several times the credit
	far, over := make(chan *mpi.Comm, 1), make(chan struct{})
	err := mpitest.RunOver("inproc", 2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			far <- c
			<-over
			return nil
		}
		defer close(over)
		peer := <-far
		out, in := make([]byte, size), make([]byte, size)
		for i := range messages {
			if err := mpi.Send(c, out, 1, i); err != nil {
				return err
			}
			if _, err := mpi.Recv(peer, in, 0, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
