package histories_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
)

// TestMain looks at -replay first, so that what is wrong with it is said once.
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
