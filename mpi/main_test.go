package mpi_test

import (
	"os"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
)

// TestMain runs the tests or, if the environment says so, one of the programs that need a
// separate process (program_test.go). After the tests it checks that the ranks have left nothing
// behind in this process.
func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		runProgram(name)
		return
	}
	leak.Main(m)
}
