package joined

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/boot"
)

// Connect finds out how this process was started and connects it to its job. It may be called once. inC
// says that the program uses the C names of calls, world that the process calls Init of the world model,
// and not only opens a session.
func Connect(inC, world bool) (boot.Boot, error) {
	way, err := choose(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	switch way {
	case wayHalo:
		return boot.Connect(inC, world)
	case waySingle:
		return boot.Single(), nil
	}
	b, err := connect(way, inC, world)
	if err != nil {
		return nil, fmt.Errorf("boot: %w", err)
	}
	return b, nil
}
