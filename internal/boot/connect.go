package boot

import (
	"fmt"
	"os"
	"strconv"
)

// EnvFD is the environment variable in which Halo's launcher gives a program the
// number of the descriptor of its link.
const EnvFD = "HALO_BOOT_FD"

// Halo's launcher also sets what programs of MPICH and Intel MPI look for, which speak PMI-1 on the
// same link.
const (
	EnvPMIFD   = "PMI_FD"
	EnvPMIRank = "PMI_RANK"
	EnvPMISize = "PMI_SIZE"
)

// Connect connects this process to the launcher that has started it, by EnvFD. It may
// be called once: it removes EnvFD and the like from the environment, so that programs which this
// one starts do not take its place in the job. inC says that the program uses the C
// names of calls, which the launcher then uses in its messages; world that the process calls
// Init of the world model, and not only opens a session.
func Connect(inC, world bool) (Boot, error) {
	value := os.Getenv(EnvFD)
	for _, name := range []string{EnvFD, EnvPMIFD, EnvPMIRank, EnvPMISize} {
		os.Unsetenv(name)
	}
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("boot: %s=%q is not a descriptor of a launcher", EnvFD, value)
	}
	return connect(fd, inC, world)
}
