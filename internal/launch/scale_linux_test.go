package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
)

// envManyHosts is the number of hosts of TestManyHosts. make soak sets 64.
const envManyHosts = "HALO_TEST_HOSTS"

// X-LCH-01: many hosts with 4 ranks each start, pass a token round a ring, and end.
func TestManyHosts(t *testing.T) {
	t.Parallel()
	n := 8
	if text := os.Getenv(envManyHosts); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
	}
	ring := filepath.Join(filepath.Dir(haloPath), "ring")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", ring, "github.com/halo-mpi/halo/examples/ring").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h := hosttest.Start(t, n)
	var hosts []string
	for i := range n {
		hosts = append(hosts, h.Name(i)+":4")
	}
	begin := time.Now()
	r := over(t, h, "-host", strings.Join(hosts, ","), ring, "-laps", "1").start().wait(0).quiet()
	t.Logf("%d ranks on %d hosts took %v", 4*n, n, time.Since(begin).Round(time.Millisecond))
	if want := fmt.Sprintf("1 laps round %d ranks: the token is %d, ", 4*n, 2*n*(4*n+1)); !strings.Contains(r.stdout.String(), want) {
		t.Errorf("the ring says %.200s, want %s", r.stdout.String(), want)
	}
	nothingRuns(t, h)
}
