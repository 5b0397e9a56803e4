package coll_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
)

// programVariable makes this test binary a rank of a job: see collectivesProgram.
const programVariable = "HALO_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		if err := collectivesProgram(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	leak.Main(m)
}
