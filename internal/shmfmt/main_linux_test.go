package shmfmt

import (
	"os"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
)

func TestMain(m *testing.M) {
	if number := os.Getenv(lockerVariable); number != "" {
		runLocker(number)
		return
	}
	leak.Main(m)
}
