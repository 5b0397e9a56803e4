package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/launch"
	"github.com/halo-mpi/halo/internal/launch/plan"
)

func runMain(args []string) int { return runAs("halo run", args) }

// runAs is halo run under the name it was called by.
func runAs(name string, args []string) int {
	spec, err := plan.Parse(args)
	switch {
	case errors.Is(err, plan.ErrHelp):
		fmt.Print(plan.Help(name))
		return 0
	case errors.Is(err, plan.ErrVersion):
		return versionMain(nil)
	case err != nil:
		fmt.Fprintf(os.Stderr, "halo: %v (%s -help)\n", err, name)
		return 2
	}
	spec.StdoutClosed, spec.StderrClosed = wasClosed(1), wasClosed(2)
	return launch.Run(spec)
}
