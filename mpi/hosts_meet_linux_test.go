package mpi_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// Parameters of meetingProgram.
const (
	portsVariable   = "HALO_TEST_PORTS"   // a file name; the name of the port of round r is in the file with .r appended
	servesVariable  = "HALO_TEST_SERVES"  // the round in which the job opens the port
	addressVariable = "HALO_TEST_ADDRESS" // where, "" for the default
)

func init() { linuxPrograms["meeting"] = meetingProgram }

// meetingProgram connects two jobs twice. Each of them accepts once.
func meetingProgram() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	for round := range 2 {
		if err := meetOnce(world, round); err != nil {
			return fmt.Errorf("round %d, rank %d: %w", round, world.Rank(), err)
		}
	}
	return mpi.Finalize()
}

// portOf is the port at which the jobs meet whose file of port names is this one.
func portOf(round int) string { return strconv.Itoa(7000 + round) }

func meetOnce(world *mpi.Comm, round int) error {
	var port *mpi.Port
	name, root := "", 0
	file := fmt.Sprintf("%s.%d", os.Getenv(portsVariable), round)
	serves := os.Getenv(servesVariable) == strconv.Itoa(round)
	switch {
	case world.Rank() != root:
	case serves:
		hints := mpi.NewInfo()
		if at := os.Getenv(addressVariable); at != "" {
			hints.Set("ip_address", at)
			hints.Set("ip_port", portOf(round))
		}
		var err error
		port, err = mpi.OpenPort(world, hints)
		if err != nil {
			return err
		}
		defer port.Close()
		if at := os.Getenv(addressVariable); at != "" && !strings.Contains(strings.ReplaceAll(port.Name(), "]", ""), at+":"+portOf(round)+"/") {
			return fmt.Errorf("a port at %s is %s", at, port.Name())
		}
		if err := os.WriteFile(file+"~", []byte(port.Name()), 0o600); err != nil {
			return err
		}
		if err := os.Rename(file+"~", file); err != nil {
			return err
		}
	default:
		for name == "" {
			time.Sleep(time.Millisecond)
			text, _ := os.ReadFile(file)
			name = string(text)
		}
	}
	var inter *mpi.Comm
	var err error
	if serves {
		inter, err = port.Accept(context.Background(), world, root)
	} else {
		inter, err = mpi.Connect(context.Background(), name, world, root)
	}
	if err != nil {
		return err
	}
	return across(inter, serves)
}

// across checks that all members of two groups reach each other, and disconnects them.
func across(inter *mpi.Comm, high bool) error {
	mine, theirs := make([]int64, inter.RemoteSize()), make([]int64, inter.RemoteSize())
	for r := range mine {
		mine[r] = int64(10*inter.Rank() + r)
	}
	if err := mpi.Alltoall(inter, mine, theirs); err != nil {
		return err
	}
	for r, v := range theirs {
		if v != int64(10*r+inter.Rank()) {
			return fmt.Errorf("rank %d has %v from the other group", inter.Rank(), theirs)
		}
	}
	return merged(inter, high)
}

// X-DYN-01: jobs of one host each connect from one host to another, by IPv4 and IPv6, and so do a job of one host and
// one of both, though a process of one host listens on the loopback address at first. DYN-05, DYN-02: so do processes
// that are spawned on a host of which the launcher was not told, and their parents.
func TestXDYN01_DYN05_DYN02_JobsOfOneHostEach(t *testing.T) {
	j := newHostJobs(t, 2)
	for _, c := range []struct {
		name              string
		first, second     string // addresses of ports of the job on host 0, and of the other one
		firstOn, secondOn []string
	}{
		{"IPv4", j.h.Addr(0), j.h.Addr(1), nil, nil},
		{"IPv6", j.h.Addr6(0), j.h.Addr6(1), nil, nil},
		{"several hosts", "", "", []string{"-host", "host0:2"}, []string{"-host", "host0:1,host1:1", "-map-by", "node"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			second := 1
			if c.secondOn != nil {
				second = 0
			} else if c.first == "" {
				t.Skip("the kernel has no IPv6")
			}
			ports := filepath.Join(t.TempDir(), "port")
			with := func(round int, address string, on []string) []string {
				return append(on, "-env", portsVariable, ports, "-env", servesVariable, strconv.Itoa(round), "-env", addressVariable, address)
			}
			a := j.startOn(t, 0, "meeting", "00", with(0, c.first, c.firstOn)...)
			b := j.startOn(t, second, "meeting", "01", with(1, c.second, c.secondOn)...)
			a.wait(t, 0)
			b.wait(t, 0)
		})
	}
	t.Run("spawn", func(t *testing.T) { j.start(t, "spawnfar", "0", "-env", farVariable, "host1").wait(t, 0) })
}
