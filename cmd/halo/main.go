package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/halo-mpi/halo/internal/launch"
)

// A command is one verb of halo.
type command struct {
	name string
	help string
	main func(args []string) int
}

func commands() []command {
	return []command{
		{"run", "start a program as the ranks of a job, on this host or several", runMain},
		{"bench", "measure this machine: latency, bandwidth, matching, collectives, launch", benchMain},
		{"ps", "show what the ranks of running jobs do and wait for", psMain},
		{"sim", "predict how long collectives take with many ranks, on a model network", simMain},
		{"info", "describe this build, this machine, and what they can do", infoMain},
		{"completion", "print what lets bash, zsh or fish complete the words of halo", completionMain},
		{"version", "print the version", versionMain},
	}
}

func main() {
	if launch.Subprocess(os.Args) {
		return
	}
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if strings.HasPrefix(name, "mpiexec") || strings.HasPrefix(name, "mpirun") {
		os.Exit(runAs(name, os.Args[1:]))
	}
	os.Exit(halo(os.Args[1:]))
}

func halo(args []string) int {
	if len(args) == 0 {
		usage(os.Stderr)
		return 2
	}
	word := args[0]
	switch word {
	case "help", "-h", "-help", "--help":
		if len(args) == 1 || word != "help" {
			usage(os.Stdout)
			return 0
		}
		word, args = args[1], []string{args[1], "-help"}
	case "-version", "--version":
		word = "version"
	}
	for _, c := range commands() {
		if c.name == word {
			return c.main(args[1:])
		}
	}
	fmt.Fprintf(os.Stderr, "halo: unknown command %q; halo help lists all (to start a program: halo run %s)\n",
		word, strings.Join(args, " "))
	return 2
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Halo is MPI in Go.\n\nUsage:\n  halo COMMAND [ARGS...]\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.help)
	}
	fmt.Fprint(w, "\nhalo COMMAND -help has the details. Called as mpiexec, this program is halo run.\n")
}
