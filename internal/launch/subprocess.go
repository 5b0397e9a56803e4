//go:build unix

package launch

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/lines"
)

// The launcher's program starts itself as a subprocess for several tasks, which its arguments select.

// Subprocess runs the task for which a launcher has started this process, and reports whether
// there was one. Every main that calls Run must call Subprocess first.
func Subprocess(args []string) bool {
	switch {
	case len(args) == 2 && args[0] == agent.WardenName:
		agent.Warden(args[1], os.Stdin)
	case len(args) == 2 && args[1] == boot.LinesWord:
		if lines.Answer(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
	case len(args) == 2 && args[1] == reach.AgentWord:
		os.Exit(agent.Main(os.Stdin, os.Stdout))
	case len(args) == 3 && args[1] == reach.AgentWord && args[2] == reach.CallWord:
		os.Exit(agent.CallMain(os.Stdin))
	case len(args) == 3 && args[1] == boot.AdoptWord:
		os.Exit(adopt(args[2]))
	case len(args) == 4 && args[1] == program.TakeWord:
		if err := program.TakeBinary(args[2], args[3]); err != nil {
			fmt.Fprintf(os.Stderr, "halo: %v\n", err)
			os.Exit(1)
		}
	default:
		return false
	}
	return true
}
