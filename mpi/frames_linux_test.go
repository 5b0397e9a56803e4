package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// framed are calls with a short path from the program to memory, the fabric that they use, and
// the maximum number of Halo's functions on that path. Inlined functions do not count, nor does
// the copy itself.
var framed = map[string]struct {
	fabric string
	most   int
	call   func(c *mpi.Comm, w mpi.Win[float64], bad []float64) error
}{
	"put":     {"shm", 2, func(c *mpi.Comm, w mpi.Win[float64], bad []float64) error { return w.Put(bad, 1, 0) }},
	"far put": {"tcp", 7, func(c *mpi.Comm, w mpi.Win[float64], bad []float64) error { return w.Put(bad, 1, 0) }},
	"send":    {"shm", 5, func(c *mpi.Comm, w mpi.Win[float64], bad []float64) error { return mpi.Send(c, bad, 1, 0) }},
	"allreduce": {"shm", 3, func(c *mpi.Comm, w mpi.Win[float64], bad []float64) error {
		return mpi.Allreduce(c, bad, make([]float64, 1), mpi.Sum)
	}},
}

func init() {
	for name := range framed {
		linuxPrograms["frames of "+name] = func() error { return framesOf(name) }
	}
}

// Fast paths stay short. The operand is memory that cannot be read, so that the stack at the
// fault shows the functions of the path.
func TestShortWaysAreOfFewFunctions(t *testing.T) {
	testrun.PlainOnly(t, "the race detector inlines less")
	for name, f := range framed {
		stdout, stderr, status := program(t, "frames of "+name)
		ways := strings.Split(strings.TrimSpace(stdout), "\n")
		if status != 0 || stdout == "" {
			t.Fatalf("%s: status %d\n%s%s", name, status, stdout, stderr)
		}
		if len(ways) > f.most {
			t.Errorf("%s: %d functions are called, %d at most:\n%s", name, len(ways), f.most, stdout)
		}
	}
}

// framesOf is a program that prints the functions of a path, one in each line.
func framesOf(name string) error {
	f := framed[name]
	page, err := sys.Anonymous(int64(os.Getpagesize()))
	if err == nil {
		err = sys.Deny(page)
	}
	if err != nil {
		return err
	}
	bad := unsafe.Slice((*float64)(unsafe.Pointer(&page[0])), 1)
	return mpitest.RunOver(f.fabric, 2, func(c *mpi.Comm) error {
		w, err := mpi.WinAllocate[float64](c, 8)
		if err != nil {
			return err
		}
		if err := errors.Join(w.LockAll(0), c.Barrier()); err != nil {
			return err
		}
		if c.Rank() == 1 {
			select {} // the other rank ends the process
		}
		// The first message to a peer creates the state of that peer, on the slow path.
		if err := mpi.Send(c, make([]float64, 1), 1, 0); err != nil {
			return err
		}
		debug.SetPanicOnFault(true)
		defer func() {
			fault, ok := recover().(interface{ Addr() uintptr })
			if !ok || fault.Addr() != uintptr(unsafe.Pointer(&bad[0])) {
				fmt.Fprintf(os.Stderr, "no fault at %p: %v\n%s", &bad[0], fault, debug.Stack())
				os.Exit(1)
			}
			printWay(string(debug.Stack()))
			os.Exit(0)
		}()
		return f.call(c, w, bad)
	})
}

// printWay prints the functions in a stack between the fault and the call, except inlined ones.
func printWay(stack string) {
	_, stack, _ = strings.Cut(stack, "\npanic(")
	_, stack, _ = strings.Cut(stack, "\n")
	for line := range strings.Lines(stack) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		if strings.HasPrefix(line, "github.com/halo-mpi/halo/mpi_test.") {
			return
		}
		if !strings.HasSuffix(strings.TrimSpace(line), "(...)") {
			fmt.Println(line[:strings.LastIndex(line, "(")])
		}
	}
}
