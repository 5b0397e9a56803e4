//go:build linux && cgo

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/planted"
)

// tables returns the files with the tables of handles, types and kernels.
func tables() []string {
	files := []string{"copy.c", "datatype.c", "handle_table.c", "kernel.c"}
	if runtime.GOARCH == "amd64" {
		files = append(files, "kernel_amd64.S")
	}
	return files
}

// The fast paths in C have the right results, and change nothing in calls that they leave to Go. testdata/fast_unit.c
// tests them on records with the layouts of Go.
func TestFastAlone(t *testing.T) {
	program := filepath.Join(t.TempDir(), "fast_unit")
	args := append([]string{"-O2", "-std=gnu11", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror", "-Wno-array-bounds", "-Wno-stringop-overflow",
		"-o", program, "testdata/fast_unit.c", "fast_accumulate.c", "fast_combine.c", "fast_element.c", "fast_integer.c", "fast_put_get.c",
		"fast_reduce_local.c"}, tables()...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Short messages in C: which calls C does and which it leaves to Go unchanged; no wake-up is lost, and a
// receive leaves the lock to who wants it; receives that C posts match in the order of the posts, and unexpected messages
// in the order of arrival; a receive looks on while nothing else arrives, and no credit is lost. testdata/message_unit.c,
// receive_unit.c, unexpected_unit.c and quiet_unit.c test them on records with the layouts of Go.
func TestMessagesAlone(t *testing.T) {
	for _, name := range []string{"message_unit", "receive_unit", "unexpected_unit", "quiet_unit"} {
		files := append(tables(), "dtype_code.c", "fast_frame.c", "fast_integer.c", "fast_receive.c", "fast_send.c", "fast_wait.c", "proc_null.c", "quiet.c")
		runUnit(t, name, files, map[string]bool{
			"QuietUnlooked": planted.QuietUnlooked, "CreditUnpaid": planted.CreditUnpaid, "WaitingForgotten": planted.WaitingForgotten,
			"WantIgnored": planted.WantIgnored, "ArmedFirst": planted.ArmedFirst, "SlowPassed": planted.SlowPassed,
			"SentUnnumbered": planted.SentUnnumbered, "PostedBackwards": planted.PostedBackwards,
			"UnexpectedBackwards": planted.UnexpectedBackwards, "UnexpectedPassed": planted.UnexpectedPassed, "ElementsUntold": planted.ElementsUntold,
		})
	}
}

// Locks of targets in C: which calls C does and which it leaves to Go unchanged; nobody has the lock beside
// another one, and whoever waits is woken. testdata/lock_unit.c tests them on records with
// the layouts of Go.
func TestLocksAlone(t *testing.T) {
	runUnit(t, "lock_unit", append(tables(), "fast_win_lock.c"), map[string]bool{
		"LockUnlooked": planted.LockUnlooked, "UnlockSilent": planted.UnlockSilent,
	})
}

// The scheduling policy of the threads of Go's runtime. In testdata/monitor_unit.c threads call what each of those calls.
func TestMonitorAlone(t *testing.T) {
	runUnit(t, "monitor_unit", []string{"monitor.c"}, map[string]bool{
		"MonitorInterrupts": planted.MonitorInterrupts, "BatchInherited": planted.BatchInherited,
	})
}

// The watchdog in C returns to Go when Go has something to do, and only then. testdata/watch_unit.c tests it in virtual time.
func TestWatchdogAlone(t *testing.T) {
	runUnit(t, "watch_unit", []string{"watch.c", "quiet.c"}, map[string]bool{
		"QuietUnlooked": planted.QuietUnlooked, "WaitingForgotten": planted.WaitingForgotten, "WantIgnored": planted.WantIgnored,
	})
}

// runUnit compiles a program of testdata with files of the library and faults that are planted or not, and runs it.
func runUnit(t *testing.T, name string, files []string, faults map[string]bool) {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	args := []string{"-O2", "-std=gnu11", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-DHALO_PLANTED(fault)=HALO_PLANTED_##fault"}
	for fault, there := range faults {
		args = append(args, fmt.Sprintf("-DHALO_PLANTED_%s=%d", fault, map[bool]int{true: 1}[there]))
	}
	args = append(append(args, "-o", program, "testdata/"+name+".c"), files...)
	if out, err := exec.Command("gcc", append(args, "-lpthread")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}
