//go:build linux

package run

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
)

// The paths in C and in Go are atomic with respect to each other and have the same results, also in
// one program: random programs that compare with a copy of the memory, threads
// that use the same elements, litmus tests, and packed types, with the fast path in C on and off.
func TestFastPathOnAndOff(t *testing.T) {
	need(t)
	t.Parallel()
	seed := rand.Uint32N(1 << 30)
	at := programs(t, []entry{{name: "fast_random"}, {name: "fast_mixed"}, {name: "fast_litmus"}, {name: "pack_random"}, {name: "rma_done"}, {name: "file_fast"}, {name: "fast_lock"}})
	for _, c := range []struct {
		fabric, program string
		ranks           int
		args            []string
	}{
		{"shm", "fast_random", 2, []string{fmt.Sprint(seed), "1000"}},
		{"shm", "fast_random", 3, []string{fmt.Sprint(seed + 1), "500"}},
		{"shm", "fast_mixed", 2, []string{"1500"}},
		{"shm", "fast_mixed", 3, []string{"500"}},
		{"shm", "fast_litmus", 2, []string{"1500"}},
		{"shm", "pack_random", 1, []string{fmt.Sprint(seed), "1000"}},
		{"shm", "rma_done", 2, nil},
		{"shm", "file_fast", 2, nil},
		{"shm", "fast_lock", 2, []string{fmt.Sprint(seed), "500"}},
		{"shm", "fast_lock", 4, []string{fmt.Sprint(seed), "200"}},
		{"tcp", "fast_random", 2, []string{fmt.Sprint(seed + 2), "150"}},
		{"tcp", "fast_mixed", 2, []string{"100"}},
		{"tcp", "fast_litmus", 2, []string{"100"}},
		{"tcp", "fast_lock", 2, []string{fmt.Sprint(seed), "50"}},
	} {
		for _, on := range []string{"1", "0"} {
			name := fmt.Sprintf("%s %q on %d ranks over %s, HALO_C_FAST=%s", c.program, c.args, c.ranks, c.fabric, on)
			r := launched(t, c.fabric, c.ranks, []string{"HALO_C_FAST=" + on}, at[c.program], c.args...)
			if r.status != 0 || strings.TrimSpace(r.out) != "no errors" || r.err != "" {
				t.Errorf("%s: status %d\n%s%s", name, r.status, r.out, r.err)
			}
		}
	}
}

// A process that locks targets in C, and one that does so in Go, exclude each other.
func TestLocksOfCAndGo(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "fast_lock"}})["fast_lock"]
	line := []string{program, fmt.Sprint(rand.Uint32N(1 << 30)), "500"}
	beside := append([]string{":", "-n", "1", "env", "HALO_C_FAST=0"}, line...)
	if r := launched(t, "shm", 2, nil, line[0], append(line[1:], beside...)...); r.status != 0 || r.out != "no errors\n" || r.err != "" {
		t.Errorf("%q: status %d\n%s%s", line, r.status, r.out, r.err)
	}
}

// Short collectives in C, mixed with those that C leaves to Go, have the same bits as results of Go
// alone, whichever member is late.
func TestShortCollectivesOnAndOff(t *testing.T) {
	need(t)
	t.Parallel()
	seed := fmt.Sprint(rand.Uint32N(1 << 30))
	program := programs(t, []entry{{name: "coll_short"}})["coll_short"]
	for _, c := range []struct {
		fabric, form string
		ranks        int
	}{{"shm", "auto", 2}, {"shm", "auto", 4}, {"shm", "cells", 3}, {"shm", "cells", 8}, {"shm", "counter", 2}, {"shm", "counter", 8}, {"tcp", "auto", 3}} {
		slot := "HALO_COLL_SLOT=" + c.form
		agree(t, c.fabric, c.ranks, program, []string{seed, "600", "digest"}, []string{"HALO_C_FAST=1", slot}, []string{"HALO_C_FAST=0", slot})
	}
}

// Accumulates of any length and MPI_Reduce_local have the same bits with every kernel, from C and from
// Go, and are atomic with respect to each other (COL-10).
func TestLongAccumulatesOnAndOff(t *testing.T) {
	need(t)
	t.Parallel()
	seed := fmt.Sprint(rand.Uint32N(1 << 30))
	program := programs(t, []entry{{name: "fast_long"}})["fast_long"]
	envs := [][]string{{"HALO_C_FAST=1"}, {"HALO_C_FAST=0"}}
	for _, k := range op.Kernels() {
		envs = append(envs, []string{"HALO_C_FAST=1", op.KernelEnv + "=" + k.String()})
	}
	agree(t, "shm", 2, program, []string{seed, "1000", "digest"}, envs...)
	agree(t, "shm", 3, program, []string{seed, "600", "digest"}, envs[:2]...)
	agree(t, "tcp", 2, program, []string{seed, "50", "digest"}, envs[:2]...)
}

// agree runs a program in several environments, and checks that it finds no errors and prints the
// same digest in all of them.
func agree(t *testing.T, fabric string, ranks int, program string, args []string, envs ...[]string) {
	t.Helper()
	var first string
	for _, env := range envs {
		r := launched(t, fabric, ranks, env, program, args...)
		if first == "" {
			first = r.out
		}
		if r.status != 0 || r.err != "" || len(r.out) < 17 || !strings.HasSuffix(r.out, "no errors\n") || r.out != first {
			t.Errorf("%q on %d ranks over %s with %q: status %d, %q before\n%s%s", args, ranks, fabric, env, r.status, first, r.out, r.err)
		}
	}
}

// Errors have the same class on both paths, in epochs of every kind, and for handles that
// were freed, were replaced by another object, or never existed.
func TestFastPathLeavesErrorsToGo(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "fast_errors"}})["fast_errors"]
	var first string
	for _, on := range []string{"1", "0"} {
		r := launched(t, "shm", 2, []string{"HALO_C_FAST=" + on}, program)
		if r.status != 0 || r.err != "" {
			t.Fatalf("HALO_C_FAST=%s: status %d\n%s", on, r.status, r.err)
		}
		if first == "" {
			first = r.out
			continue
		}
		a, b := strings.Split(first, "\n"), strings.Split(r.out, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("with the path of C %q, without %q", a[i], b[i])
			}
		}
		if len(a) != len(b) {
			t.Errorf("%d lines with the path of C, %d without", len(a), len(b))
		}
	}
	for _, want := range []string{
		"no epoch: all is well, put: MPI_ERR_RMA_SYNC",
		"no epoch: all is well, flush: MPI_ERR_RMA_SYNC",
		"locked by lock_all: all is well, put: success",
		"locked by lock_all: all is well, sync: success",
		"locked by lock_all: the last element, fetch_and_op: success",
		"locked by lock_all: one byte too far, put: MPI_ERR_RMA_RANGE",
		"locked by lock_all: one byte too far, compare_and_swap: MPI_ERR_RMA_RANGE",
		"locked by lock_all: rank too high, get: MPI_ERR_RANK",
		"locked by lock_all: nobody, put: success",
		"locked by lock_all: bits of double, fetch_and_op: MPI_ERR_OP",
		"locked by lock_all: double, compare_and_swap: MPI_ERR_TYPE",
		"locked by lock_all: a freed window, put: MPI_ERR_WIN",
		"locked by lock_all: a freed window, flush: MPI_ERR_WIN",
		"locked by lock_all: a wild handle, accumulate: MPI_ERR_WIN",
		"behind lock_all: all is well, get: MPI_ERR_RMA_SYNC",
		"locked: another rank, put: MPI_ERR_RMA_SYNC",
		"locked: another rank, flush: MPI_ERR_RMA_SYNC",
		"fence: all is well, fetch_and_op: success",
		"fence: all is well, flush: MPI_ERR_RMA_SYNC",
		"behind the last fence: all is well, put: MPI_ERR_RMA_SYNC",
		"fence, then posted: all is well, put: MPI_ERR_RMA_SYNC",
		"fence, then locked: lock: success",
		"a put: lock: MPI_ERR_RMA_SYNC",
		"a put of nothing: lock: MPI_ERR_RMA_SYNC",
		"a put behind the end: first: MPI_ERR_RMA_RANGE",
		"started: all is well, accumulate: success",
		"completed: all is well, accumulate: MPI_ERR_RMA_SYNC",
		"objects: rank of what was freed, its place taken: MPI_ERR_COMM",
		"objects: size of a pair: success",
	} {
		if !strings.Contains(first, want+"\n") && !strings.Contains(first, want+":") {
			what, _, _ := strings.Cut(want, ": MPI")
			for line := range strings.Lines(first) {
				if strings.HasPrefix(line, what) {
					t.Errorf("%q, want %q", strings.TrimSpace(line), want)
				}
			}
			if !strings.Contains(first, what) {
				t.Errorf("there is no line %q", what)
			}
		}
	}
}

// Members of a collective that give other lengths than the others get an error, from C, from Go and mixed, in
// both forms of a slot and by messages (BRD-08).
func TestBRD08_CollectivesOfOtherLengthsInC(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "coll_lengths"}})["coll_lengths"]
	for _, fast := range []string{"HALO_C_FAST=1", "HALO_C_FAST=0"} {
		for _, form := range []string{"auto", "cells", "counter"} {
			for _, n := range []int{2, 3, 4} {
				r := launched(t, "shm", n, []string{fast, "HALO_COLL_SLOT=" + form}, program, "far")
				if r.status != 0 || r.err != "" || r.out != "no errors\n" {
					t.Errorf("%d ranks, %s, %s: status %d\n%s%s", n, fast, form, r.status, r.out, r.err)
				}
			}
		}
		if r := launched(t, "tcp", 3, []string{fast}, program); r.status != 0 || r.err != "" || r.out != "no errors\n" {
			t.Errorf("tcp, %s: status %d\n%s%s", fast, r.status, r.out, r.err)
		}
	}
}
