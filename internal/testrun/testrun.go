package testrun

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/sys"
)

// Race is sys.Race.
const Race = sys.Race

const (
	// Chosen is the environment variable that names the fabrics to cover, separated by commas.
	Chosen = "HALO_TEST_FABRICS"
	// Once is the environment variable that is set if a run under the race detector covers
	// what the detector can see, so that a run without the detector covers only the rest.
	Once = "HALO_TEST_ONCE"
)

// Fabrics returns those of names that this run covers. A name may end with a placement of the ranks
// on hosts, as in shm@0110.
func Fabrics(names ...string) []string {
	chosen := strings.Split(os.Getenv(Chosen), ",")
	once := Beside()
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		fabric, _, _ := strings.Cut(name, "@")
		shared := fabric == "shm"
		switch {
		case shared && runtime.GOOS != "linux":
			return true
		case chosen[0] != "":
			return !slices.Contains(chosen, fabric)
		case Race:
			return shared
		}
		return once && !shared
	})
}

// Beside reports whether this is a build without the race detector, while another run with the
// detector covers what the detector can see.
func Beside() bool { return !Race && os.Getenv(Once) != "" && runtime.GOOS == "linux" }

// Covered skips t if Beside reports true: t also runs under the race detector, which sees all of it.
func Covered(t testing.TB) {
	t.Helper()
	if Beside() {
		t.Skip("the run with the race detector covers it")
	}
}

// PlainOnly skips t under the race detector; why is the reason why t cannot run there. In any other
// build t covers all fabrics from now on.
func PlainOnly(t *testing.T, why string) {
	t.Helper()
	if Race {
		t.Skip("with the race detector: " + why)
	}
	t.Setenv(Once, "")
}
