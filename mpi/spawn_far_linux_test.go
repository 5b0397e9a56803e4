package mpi_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/halo-mpi/halo/mpi"
)

// farVariable is the host on which spawnFarProgram spawns.
const farVariable = "HALO_TEST_FAR"

func init() { linuxPrograms["spawnfar"] = spawnFarProgram }

// spawnFarProgram spawns processes on a host of which the launcher has not been told.
func spawnFarProgram() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	inter := world.Parent()
	if far := os.Getenv(farVariable); inter == nil {
		self, _ := os.Executable()
		m := mpi.Command{Program: self, N: 2, Info: mpi.NewInfo()}
		m.Info.Set("host", far)
		inter, _, err = world.Spawn(context.Background(), 0, m)
		if err != nil {
			return err
		}
	} else if here, _ := os.Hostname(); here != far {
		return fmt.Errorf("spawned on %s, not on %s", here, far)
	}
	if err := across(inter, world.Parent() == nil); err != nil {
		return err
	}
	return mpi.Finalize()
}

// heldByProcess is how many descriptors and mapped files the process has.
func heldByProcess() int {
	fds, _ := os.ReadDir("/proc/self/fd")
	maps, _ := os.ReadFile("/proc/self/maps")
	return len(fds) + strings.Count(string(maps), "/")
}
