//go:build unix

package launch

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/lines"
)

// The launcher's program starts itself as a subprocess for several tasks. These arguments
// select the task; the first is argv[0], so that ps shows it.
const (
	wardenName = "halo-warden"
	agentWord  = "agent" // in the command line of ssh
	callWord   = "call"  // after agentWord: the agent calls the launcher
)

// Subprocess runs the task for which a launcher has started this process, and reports whether
// there was one. Every main that calls Run must call Subprocess first.
func Subprocess(args []string) bool {
	switch {
	case len(args) == 2 && args[0] == wardenName:
		warden(args[1], os.Stdin)
	case len(args) == 2 && args[1] == boot.LinesWord:
		if lines.Answer(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
	case len(args) == 2 && args[1] == agentWord:
		os.Exit(agentMain(os.Stdin, os.Stdout))
	case len(args) == 3 && args[1] == agentWord && args[2] == callWord:
		os.Exit(callMain(os.Stdin))
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
