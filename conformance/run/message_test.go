//go:build linux

package run

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Random histories of messages have the same results whether C sends and receives short ones itself or
// not (P2P-01, P2P-02, P2P-05).
func TestShortMessagesOnAndOff(t *testing.T) {
	need(t)
	t.Parallel()
	seed := rand.Uint32N(1 << 30)
	program := programs(t, []entry{{name: "message_random"}})["message_random"]
	for i, c := range []struct {
		fabric       string
		ranks, turns int
	}{{"shm", 2, 2000}, {"shm", 3, 1000}, {"shm", 6, 600}, {"tcp", 3, 300}} {
		agree(t, c.fabric, c.ranks, program, []string{fmt.Sprint(seed + uint32(i)), fmt.Sprint(c.turns), "digest"}, []string{"HALO_C_FAST=1"}, []string{"HALO_C_FAST=0"})
	}
}

// Receives that C posts get the messages that Go's would, whatever is called in between, and their requests
// can be used in all calls (P2P-02, P2P-06, P2P-15).
func TestPostedReceivesOnAndOff(t *testing.T) {
	need(t)
	t.Parallel()
	seed := rand.Uint32N(1 << 30)
	program := programs(t, []entry{{name: "message_receives"}})["message_receives"]
	for i, c := range []struct {
		fabric       string
		ranks, turns int
	}{{"shm", 2, 1000}, {"shm", 3, 500}, {"shm", 5, 200}, {"tcp", 2, 100}} {
		agree(t, c.fabric, c.ranks, program, []string{fmt.Sprint(seed + uint32(i)), fmt.Sprint(c.turns), "digest"}, []string{"HALO_C_FAST=1"}, []string{"HALO_C_FAST=0"})
	}
}

// Messages that arrive before their receives are received as Go would, in every order and by every call (P2P-02, P2P-15).
func TestEarlyMessagesOnAndOff(t *testing.T) {
	need(t)
	t.Parallel()
	seed := rand.Uint32N(1 << 30)
	program := programs(t, []entry{{name: "message_early"}})["message_early"]
	for i, c := range []struct {
		fabric       string
		ranks, turns int
	}{{"shm", 2, 600}, {"shm", 3, 400}, {"shm", 5, 200}, {"tcp", 3, 100}} {
		agree(t, c.fabric, c.ranks, program, []string{fmt.Sprint(seed + uint32(i)), fmt.Sprint(c.turns), "digest"}, []string{"HALO_C_FAST=1"}, []string{"HALO_C_FAST=0"})
	}
}

// Threads that send and receive short messages at once take turns with each other and with threads that
// wait in Go (X-INI-01).
func TestShortMessagesOfThreads(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "message_threads"}})["message_threads"]
	for _, n := range []int{2, 4} {
		for _, on := range []string{"1", "0"} {
			r := launched(t, "shm", n, []string{"HALO_C_FAST=" + on}, program, "400")
			if r != (result{out: "no errors\n"}) {
				t.Errorf("%d ranks, HALO_C_FAST=%s: status %d\n%s%s", n, on, r.status, r.out, r.err)
			}
		}
	}
}

// Whatever is not simple in a short send or receive has the same outcome with and without the path in C
// (ERR-01).
func TestShortMessagesLeaveErrorsToGo(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "message_errors"}})["message_errors"]
	on := launched(t, "shm", 2, []string{"HALO_C_FAST=1"}, program)
	off := launched(t, "shm", 2, []string{"HALO_C_FAST=0"}, program)
	if on.status != 0 || on != off || !strings.HasSuffix(on.out, "no errors\n") {
		t.Errorf("with the path of C status %d\n%s%s\nwithout status %d\n%s%s", on.status, on.out, on.err, off.status, off.out, off.err)
	}
	for _, want := range []string{
		"all: class 0, source 1, tag 5, 16 bytes, error 77",
		"nothing: class 0, source 1, tag 5, 0 bytes, error 77",
		"too long: class 15, source 1, tag 5, 16 bytes",
		"the highest tag: class 0, source 1, tag 2147483647, 8 bytes, error 77",
	} {
		if !strings.Contains(on.out, "\n"+want) {
			t.Errorf("no line %q in\n%s", want, on.out)
		}
	}
}

// Requests of short sends that C has completed can be used in all calls that take requests, and the sends
// can be cancelled (P2P-06, P2P-10, P2P-15, P2P-17).
func TestShortSendsHaveRequests(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "message_requests"}})["message_requests"]
	for _, on := range []string{"1", "0"} {
		if r := launched(t, "shm", 2, []string{"HALO_C_FAST=" + on}, program); r != (result{out: "no errors\n"}) {
			t.Errorf("HALO_C_FAST=%s: status %d\n%s%s", on, r.status, r.out, r.err)
		}
	}
}

// A thread that is interrupted in the middle of a short message holds the engine's lock. A call of its
// signal handler is refused, as it would wait for ever; other threads and the receiver wait; and if the
// process is killed, nobody receives half a message.
func TestShortMessagesInterrupted(t *testing.T) {
	need(t)
	t.Parallel()
	if sanitizing().flags != nil {
		t.Skip("sanitizers report faults themselves")
	}
	program := programs(t, []entry{{name: "message_signal"}})["message_signal"]
	for what, want := range map[string]struct {
		status int
		line   string
	}{
		"returns": {0, ""},
		"waits":   {0, ""},
		"ends":    {16, "mpi: MPI_Iprobe: called in a signal handler, process "},
		"abort":   {9, "MPI_Abort(9)"},
		"kill":    {128 + 9, "SIGKILL"},
	} {
		env := []string{"HALO_INITIAL_ERRHANDLER=mpi_errors_return"}
		if what == "ends" {
			env = nil
		}
		r := launched(t, "shm", 2, env, program, what)
		if r.status != want.status || !strings.Contains(r.err, want.line) || want.status == 0 && (r.out != "no errors\n" || r.err != "") || want.status != 0 && r.out != "" {
			t.Errorf("%s: status %d, want %d\n%s%s", what, r.status, want.status, r.out, r.err)
		}
	}
}
