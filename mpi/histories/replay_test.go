package histories_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
)

var replayFlag = flag.String("replay", "", "run the program of `fabric:seed` only, as in shm@0110:4711, where a digit is the host of a rank")

// placing is a fabric and the hosts of the ranks.
type placing struct {
	fabric string // without hosts
	places string // the host of each rank, as in mpitest.RunOver
}

func (p placing) String() string { return p.fabric + "@" + p.places }

// over is the fabric for mpitest.RunOver.
func (p placing) over() string {
	if strings.Trim(p.places, "0") == "" {
		return p.fabric // on one host
	}
	return p.String()
}

// parseReplay parses a value of -replay.
func parseReplay(value string) (at placing, seed uint64, err error) {
	name, number, found := strings.Cut(value, ":")
	fabric, places, placed := strings.Cut(name, "@")
	if !found || !placed || places == "" {
		return at, 0, errors.New("want a fabric, the host of each rank, and a seed, as in shm@0110:4711")
	}
	if fabric != "inproc" && fabric != "shm" && fabric != "tcp" {
		return at, 0, fmt.Errorf("%q is no fabric, want inproc, shm or tcp", fabric)
	}
	hosts := 0
	for r, p := range []byte(places) {
		h := int(p) - '0'
		if h < 0 || h > min(hosts, 9) {
			return at, 0, fmt.Errorf("rank %d is on host %q, want a digit from 0 to %d", r, p, min(hosts, 9))
		}
		hosts = max(hosts, h+1)
	}
	seed, err = strconv.ParseUint(number, 10, 64)
	if err != nil {
		return at, 0, fmt.Errorf("%q is no seed, want a number of 64 bits", number)
	}
	return placing{fabric, places}, seed, nil
}

// replay is the command that runs the programs of count seeds, from seed on, again in the test
// of t.
func (p placing) replay(t testing.TB, seed uint64, count int) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	env, build, programs := "", "", ""
	if v := os.Getenv("HALO_CHECK"); v != "" {
		env += "HALO_CHECK=" + v + " "
	}
	if v := os.Getenv("HALO_FAULT"); v != "" { // see package planted
		env += "HALO_FAULT=" + v + " "
		build += "-tags faults "
	}
	if testrun.Race {
		build += "-race "
	}
	if count > 1 {
		programs = fmt.Sprintf(" -programs %d", count)
	}
	return fmt.Sprintf("replay: %sgo test %s./mpi/histories -run '^%s$' -replay %v:%d%s", env, build, name, p, seed, programs)
}

// The command that replays contains a valid value of -replay. For invalid values the error says
// what is wrong.
func TestReplayValues(t *testing.T) {
	t.Setenv("HALO_CHECK", "")
	t.Setenv("HALO_FAULT", "")
	for _, value := range []string{"inproc@0:0", "shm@0110:4711", "tcp@01234:18446744073709551615"} {
		at, seed, err := parseReplay(value)
		ok(t, err)
		line := at.replay(t, seed, 20)
		if testrun.Race {
			line = strings.Replace(line, "-race ", "", 1)
		}
		if want := "replay: go test ./mpi/histories -run '^TestReplayValues$' -replay " + value + " -programs 20"; line != want {
			t.Errorf("the line is\n%s\nwant\n%s", line, want)
		}
	}
	for value, want := range map[string]string{
		"4711":                          "as in shm@0110:4711",
		"shm@0110":                      "as in shm@0110:4711",
		"shm:4711":                      "as in shm@0110:4711",
		"shm@:4711":                     "as in shm@0110:4711",
		"smh@0110:4711":                 `"smh" is no fabric`,
		"shm@0x10:4711":                 `rank 1 is on host 'x', want a digit from 0 to 1`,
		"shm@02:4711":                   `rank 1 is on host '2', want a digit from 0 to 1`,
		"shm@0110:":                     `"" is no seed`,
		"shm@0110:-1":                   `"-1" is no seed`,
		"shm@0110:18446744073709551616": `is no seed`,
	} {
		if _, _, err := parseReplay(value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
}
