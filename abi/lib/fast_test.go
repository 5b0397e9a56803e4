//go:build linux && cgo

package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// The fast paths in C have the right results, and change nothing in calls that they leave to Go
// (issue 7, section 3). testdata/fast_unit.c tests them on records with the layouts of Go.
func TestFastAlone(t *testing.T) {
	program := filepath.Join(t.TempDir(), "fast_unit")
	args := []string{"-O2", "-std=gnu11", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror", "-Wno-array-bounds", "-Wno-stringop-overflow",
		"-o", program, "testdata/fast_unit.c", "fast.c", "fast_combine.c", "fast_element.c", "fast_kernel.c", "fast_row.c", "fast_reduce.c"}
	if runtime.GOARCH == "amd64" {
		args = append(args, "kernel_amd64.S")
	}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
