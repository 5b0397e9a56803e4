package histories_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
)

// TestMain parses -replay first, so that an invalid value is reported once.
func TestMain(m *testing.M) {
	flag.Parse()
	if *replayFlag != "" {
		if _, _, err := parseReplay(*replayFlag); err != nil {
			fmt.Fprintf(os.Stderr, "-replay %s: %v\n", *replayFlag, err)
			os.Exit(2)
		}
	}
	leak.Main(m)
}
