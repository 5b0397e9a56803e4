package joined

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/boot"
)

// Connect finds out how this process was started and connects it to its job. It may be called once. inC
// says that the program uses the C names of calls. world says that the process calls Init of the world
// model; otherwise it opens a session.
func Connect(inC, world bool) (boot.Boot, error) {
	way, err := choose(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	var b boot.Boot
	switch way {
	case wayHalo:
		b, err = boot.Connect(inC, world)
	case waySingle:
		return boot.Single(inC), nil
	default:
		b, err = connect(way, inC, world)
		if err != nil {
			err = fmt.Errorf("boot: %w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	// Programs that this one starts must not take its place in the job.
	for _, name := range []string{"PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "PMI_JOBID", "PMIX_NAMESPACE", "PMIX_RANK", envAddr, envLocal} {
		os.Unsetenv(name)
	}
	return b, nil
}
