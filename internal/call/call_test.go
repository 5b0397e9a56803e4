package call_test

import (
	"testing"

	"github.com/halo-mpi/halo/abi"
	"github.com/halo-mpi/halo/internal/call"
)

// Each procedure of the library is a call with the names that the table says, and no other call is a procedure.
func TestProceduresAreCalls(t *testing.T) {
	procedures, err := abi.Procedures()
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]call.Number{}
	for n := call.None + 1; n <= call.Procedures; n++ {
		if other := numbers[n.C()]; other != call.None {
			t.Errorf("calls %d and %d are %s", other, n, n.C())
		}
		numbers[n.C()] = n
	}
	if len(procedures) != int(call.Procedures) {
		t.Errorf("%d procedures, %d calls", len(procedures), call.Procedures)
	}
	for _, p := range procedures {
		if n := numbers[p.Name]; n == call.None || n.Go() != p.Go {
			t.Errorf("%s is call %d with the name %q in Go, want %q", p.Name, n, n.Go(), p.Go)
		}
	}
}

// The calls that are not a procedure's follow the procedures.
func TestOtherCalls(t *testing.T) {
	calls, err := abi.Calls()
	if err != nil {
		t.Fatal(err)
	}
	n := call.Number(call.Procedures)
	for _, c := range calls {
		n++
		if n.Go() != c.Go || n.C() != c.C {
			t.Errorf("call %d is %q in Go and %q in C, want %q and %q", n, n.Go(), n.C(), c.Go, c.C)
		}
	}
	if after := n + 1; after.Go() != "" || after.C() != "" {
		t.Errorf("call %d is %q in Go and %q in C", after, after.Go(), after.C())
	}
}

// A call has its name in the language of the program. Calls that only Go has keep their name.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		n         call.Number
		inGo, inC string
	}{
		{call.None, "", ""},
		{call.Send, "Send", "MPI_Send"},
		{call.CommFree, "Free", "MPI_Comm_free"},
		{call.WinFree, "Free", "MPI_Win_free"},
		{call.WinWaitNotify, "WaitNotify", "MPIX_Win_wait_notify"},
		{call.IwaitNotify, "IwaitNotify", "MPIX_Win_wait_notify"},
		{call.RecvSlice, "RecvSlice", "RecvSlice"},
		{call.GeneralizedRequest, "generalized request", "generalized request"},
	} {
		if c.n.Name(false) != c.inGo || c.n.Name(true) != c.inC {
			t.Errorf("call %d is %q in Go and %q in C, want %q and %q", c.n, c.n.Name(false), c.n.Name(true), c.inGo, c.inC)
		}
	}
	if s := call.Allreduce.String(); s != "Allreduce" {
		t.Errorf("Allreduce is %s", s)
	}
	if n := testing.AllocsPerRun(10, func() { _ = call.Send.Name(true) }); n != 0 {
		t.Errorf("a name takes %v allocations", n)
	}
}

// The traits are those of the table, and no call has one by accident.
func TestTraits(t *testing.T) {
	for n, want := range map[call.Number]call.Trait{
		call.None:               0,
		call.Send:               call.Message,
		call.Irecv:              call.Message | call.Source | call.Once,
		call.Isend:              call.Message | call.Once,
		call.RecvInit:           call.Message | call.Source | call.Persistent,
		call.Improbe:            call.Message | call.Source,
		call.RecvSlice:          call.Message | call.Source,
		call.Allreduce:          call.Collective,
		call.BcastInit:          call.Collective | call.Persistent,
		call.IneighborAllgather: call.Collective,
		call.Get:                call.Window | call.Source,
		call.WinFence:           call.Window,
		call.WinFree:            call.Window,
		call.CompareSwap:        call.Window,
		call.CommFree:           0,
		call.FileRead:           0,
		call.Writing:            0,
		call.Number(call.End):   0,
	} {
		for t1 := call.Message; t1 <= call.Window; t1 <<= 1 {
			if n.Is(t1) != (want&t1 != 0) {
				t.Errorf("%s has trait %#x: %v", n, t1, n.Is(t1))
			}
		}
	}
}
