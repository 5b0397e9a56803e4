package mpi_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// overSockets are fabrics on which the kernel reads and writes the memory of messages, or seals frames of it.
var overSockets = []string{"tcp", "tcp@01"}

// perforated is memory of n bytes of which a page in the middle is not mapped.
func perforated(t testing.TB, n int) []byte {
	t.Helper()
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	page := os.Getpagesize()
	if err := syscall.Mprotect(b[n/2/page*page:][:page], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return b
}

// wantWild expects the error of a call whose memory is not accessible.
func wantWild(t testing.TB, err error, call, access string) {
	t.Helper()
	if !errors.Is(err, mpi.ErrBuffer) || !strings.Contains(err.Error(), "mpi: "+call+" on ") || !strings.Contains(err.Error(), "cannot be "+access) {
		t.Errorf("want the error of %s whose memory cannot be %s: %v", call, access, err)
	}
}

// BRD-09: Memory that is not mapped in the middle of a long message is MPI_ERR_BUFFER at both ends, by the name of the
// call. Other messages between the two processes, before, beside and after it, arrive, whatever the layout in memory.
func TestBRD09_HolesInWhatIsSent(t *testing.T) {
	const block, blocks = 8 << 10, 200
	for _, fabric := range overSockets {
		mpitest.On(t, fabric, 2, func(t testing.TB, c *mpi.Comm) {
			layout, err := mpi.TypeVector(blocks, block, 3*block/2, mpi.Byte()) // the kernel gathers its blocks
			ok(t, err)
			ok(t, layout.Commit())
			const n = block * blocks
			whole := make([]byte, n)
			for i := range whole {
				whole[i] = byte(i / 1000)
			}
			got := make([]byte, n)
			intact := func(err error, what string) {
				t.Helper()
				ok(t, err)
				for i := range got {
					if got[i] != byte(i/1000) {
						t.Fatalf("%s: byte %d is %d", what, i, got[i])
					}
				}
				clear(got)
			}
			memory := perforated(t, 3*n/2)
			for round, wild := range []mpi.Buffer{mpi.Buf(memory[n/4:][:n]), mpi.BufOf(memory, 1, layout)} {
				tag := 10 * round
				if c.Rank() == 1 {
					before, beside := mpi.Irecv(c, make([]byte, n), 0, tag), mpi.Irecv(c, got, 0, tag+2)
					_, err := mpi.Recv(c, make([]byte, n), 0, tag+1)
					if !errors.Is(err, mpi.ErrBuffer) || !strings.Contains(err.Error(), "rank 0 cannot read the memory of its message from byte ") {
						t.Errorf("a receive of what cannot be read: %v", err)
					}
					_, err = before.Wait()
					ok(t, err)
					_, err = beside.Wait()
					intact(err, "a message beside it")
					_, err = mpi.Recv(c, got, 0, tag+1)
					intact(err, "the next message")
					ok(t, mpi.Send(c, whole, 0, tag))
					continue
				}
				before, beside := mpi.Isend(c, whole, 1, tag), mpi.Request{}
				r := c.Isend(wild, 1, tag+1)
				beside = mpi.Isend(c, whole, 1, tag+2)
				_, err := r.Wait()
				wantWild(t, err, "Isend", "read")
				ok(t, second(before.Wait()))
				ok(t, second(beside.Wait()))
				ok(t, mpi.Ssend(c, whole, 1, tag+1))
				_, err = mpi.Recv(c, got, 1, tag)
				intact(err, "a message back")
			}
		})
	}
}

// BRD-09: Memory that is not mapped in the middle of the buffer of a long receive is MPI_ERR_BUFFER of the receive
// alone. Its send, and all other messages, are as ever.
func TestBRD09_HolesInWhatIsReceivedInto(t *testing.T) {
	const n = 3 << 20
	for _, fabric := range overSockets {
		mpitest.On(t, fabric, 2, func(t testing.TB, c *mpi.Comm) {
			whole := make([]byte, n)
			for i := range whole {
				whole[i] = byte(i / 1000)
			}
			if c.Rank() == 0 {
				for tag := range 4 {
					ok(t, mpi.Ssend(c, whole, 1, tag))
				}
				return
			}
			wild, got := perforated(t, n), make([]byte, n)
			beside := mpi.Irecv(c, got, 0, 2)
			_, err := mpi.Recv(c, wild, 0, 0)
			wantWild(t, err, "Recv", "written")
			for i := range n / 4 { // what came before the hole
				if wild[i] != byte(i/1000) {
					t.Fatalf("byte %d is %d", i, wild[i])
				}
			}
			r := mpi.Irecv(c, wild, 0, 1)
			wantWild(t, second(r.Wait()), "Irecv", "written")
			ok(t, second(beside.Wait()))
			for i := range got {
				if got[i] != byte(i/1000) {
					t.Fatalf("byte %d of a message beside it is %d", i, got[i])
				}
			}
			ok(t, second(mpi.Recv(c, got, 0, 3)))
		})
	}
}

// BRD-09: The same for partitioned communication: an error at both ends, and other messages arrive.
func TestBRD09_HolesInPartitions(t *testing.T) {
	const n, parts = 3 << 20, 3
	for _, fabric := range overSockets {
		mpitest.On(t, fabric, 2, func(t testing.TB, c *mpi.Comm) {
			for tag, bad := range []int{0, 1} { // who has the hole
				b := make([]byte, n)
				if c.Rank() == bad {
					b = perforated(t, n)
				}
				r := mpi.PrecvInit(c, b, parts, 1-c.Rank(), tag)
				if c.Rank() == 0 {
					r = mpi.PsendInit(c, b, parts, 1, tag)
				}
				ok(t, r.Start())
				if c.Rank() == 0 {
					ok(t, r.PreadyRange(0, parts-1))
				}
				if _, err := r.Wait(); !errors.Is(err, mpi.ErrBuffer) && (c.Rank() == bad || bad == 0) {
					t.Errorf("rank %d, with a hole at rank %d: %v", c.Rank(), bad, err)
				}
				ok(t, r.Free())
				out, in := []int{c.Rank()}, []int{-1}
				ok(t, second(mpi.Sendrecv(c, out, 1-c.Rank(), tag, in, 1-c.Rank(), tag)))
				if in[0] != 1-c.Rank() {
					t.Errorf("the next message is %d", in[0])
				}
			}
		})
	}
}

// BRD-09: A send reads the memory of a long message when the receiver asks for it, and no more than that. Until
// then other goroutines communicate, and the message takes no memory.
func TestBRD09_SendsReadWhatIsAskedFor(t *testing.T) {
	const size, asked, most = 1 << 30, 1 << 20, 32 << 20 // most: pages of 2 MiB count whole
	f, err := sys.Memfd("test", size)
	ok(t, err)
	defer f.Close()
	huge, err := sys.Map(f, size)
	ok(t, err)
	defer sys.Unmap(huge)
	touched := func() int64 {
		info, err := f.Stat()
		ok(t, err)
		return 512 * info.Sys().(*syscall.Stat_t).Blocks
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 1 {
			_, err := c.Probe(0, 1)
			ok(t, err)
			for i := range 100 {
				ok(t, mpi.Send(c, []int{i}, 0, 2))
				ok(t, second(mpi.Recv(c, make([]int, 1), 0, 2)))
			}
			if n := touched(); n > most {
				t.Errorf("a send that is not matched has touched %d bytes", n)
			}
			if _, err := mpi.Recv(c, make([]byte, asked), 0, 1); !errors.Is(err, mpi.ErrTruncate) {
				t.Error(err)
			}
			if n := touched(); n > most {
				t.Errorf("a send of %d bytes of which %d are received has touched %d", size, asked, n)
			}
			return
		}
		sent := make(chan error)
		go func() { sent <- mpi.Ssend(c, huge, 1, 1) }()
		for range 100 {
			got := make([]int, 1)
			ok(t, second(mpi.Recv(c, got, 1, 2)))
			ok(t, mpi.Send(c, got, 1, 2))
		}
		ok(t, <-sent)
	})
}
