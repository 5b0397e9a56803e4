package histories_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi/mpitest"
)

var programsFlag = flag.Uint("programs", 0, "how many programs a test runs on each fabric and placing of ranks, or with -replay, from that seed on")

// secondsVariable is the environment variable that says for how many seconds a test runs
// programs on each fabric, with new seeds.
const secondsVariable = "HALO_HISTORY_SECONDS"

// timedBatch is the maximum number of programs that run before a test checks the time.
const timedBatch = 20

// series is the programs of count seeds, from first on, with one placing of their ranks.
type series struct {
	placing
	first uint64
	count int
}

// onFabrics is a series of these seeds on each fabric.
func onFabrics(places string, first uint64, count int) (all []series) {
	for _, fabric := range mpitest.Fabrics() {
		all = append(all, series{placing{fabric, places}, first, count})
	}
	return all
}

// runAll runs each series in a subtest, in batches of at most batch programs. The flags and the
// environment may select other programs.
func runAll(t *testing.T, all []series, batch int, run func(t *testing.T, s series)) {
	t.Helper()
	seconds, err := secondsPerFabric()
	ok(t, err)
	if *replayFlag != "" {
		at, seed, err := parseReplay(*replayFlag)
		ok(t, err)
		all, seconds = []series{{at, seed, 1}}, 0
	}
	fresh, ofFabric := rand.Uint64()>>20, map[string]int{}
	for i := range all {
		ofFabric[all[i].fabric]++
		if *programsFlag > 0 {
			all[i].count = int(*programsFlag)
		}
		if seconds > 0 {
			all[i].first += fresh
		}
	}
	for _, s := range all {
		t.Run(s.String(), func(t *testing.T) {
			end := time.Now().Add(seconds / time.Duration(ofFabric[s.fabric]))
			done := 0
			for !t.Failed() && (seconds == 0 && done < s.count || seconds > 0 && time.Now().Before(end)) {
				n := min(batch, s.count-done)
				if seconds > 0 {
					n = min(batch, timedBatch)
				}
				run(t, series{s.placing, s.first + uint64(done), n})
				done += n
			}
			t.Logf("%d programs over %v", done, s.placing)
		})
	}
}

func secondsPerFabric() (time.Duration, error) {
	value := os.Getenv(secondsVariable)
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s=%q is no number of seconds", secondsVariable, value)
	}
	return time.Duration(n) * time.Second, nil
}
