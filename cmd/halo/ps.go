package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/halo-mpi/halo/internal/launch/ps"
)

const psHelp = `Show what the ranks of this user's jobs on this host do and wait for.

Usage:
  halo ps [-json] [JOB]

JOB is the name of a job, or as much of its start as tells it from others, or
the process id of its launcher. Without it all jobs are shown.

For each rank: its process id; its state (starting, running, waiting, stopped,
ended); the processor time it has used; and for up to four of its goroutines that
sleep in a call, those that sleep longest, what the call waits for and for how
long. A rank is running while it computes, polls, or has not called Init yet.

A job that another one has spawned has the name of that one, a dot and a number.
Its parents wait in the call for its ranks that are starting: these have not
called Init yet.

If all ranks of a job have been asleep in calls for some seconds and use no
processor time, the last line says so: then they probably wait for each other.

The same table goes to standard error when a launcher gets SIGQUIT (Ctrl-\ in its
terminal), and when -timeout ends a job.

Exit status: 0; 1 if there is no such JOB or jobs cannot be found; 2 for a wrong
command line.
`

func psMain(args []string) int {
	asJSON, job := false, ""
	for _, a := range args {
		switch a {
		case "-help", "--help", "-h":
			fmt.Print(psHelp)
			return 0
		case "-json", "--json":
			asJSON = true
			continue
		}
		if strings.HasPrefix(a, "-") || job != "" {
			fmt.Fprintf(os.Stderr, "halo ps: unexpected argument %q: want [-json] [JOB]\n", a)
			return 2
		}
		job = a
	}
	n, unread, err := ps.Print(os.Stdout, asJSON, job)
	for _, u := range unread {
		fmt.Fprintf(os.Stderr, "halo ps: not shown: %s\n", u)
	}
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "halo ps: %v\n", err)
		return 1
	case n == 0 && job != "":
		fmt.Fprintf(os.Stderr, "halo ps: no job %s of yours runs on this host\n", job)
		return 1
	case n == 0 && !asJSON:
		fmt.Println("no job of yours runs on this host")
	}
	return 0
}
