package mpi_test

import (
	"os"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
)

// TestMain runs the tests, or, where the environment says so, one of the
// programs that need a process of their own (program_test.go). Afterwards it
// looks for what the ranks may have left behind in this process.
func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		runProgram(name)
		return
	}
	leak.Main(m)
}
