package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/sys"
)

func versionMain(args []string) int {
	if !noArguments("version", "prints the version of this program", args) {
		return 2
	}
	fmt.Printf("halo %s\n", boot.Build())
	return 0
}

// noArguments reports whether there are no arguments. If help is asked for, it prints it and exits.
func noArguments(verb, help string, args []string) bool {
	if len(args) == 0 {
		return true
	}
	if len(args) == 1 && strings.TrimLeft(args[0], "-") == "help" {
		fmt.Printf("halo %s %s.\n", verb, help)
		os.Exit(0)
	}
	fmt.Fprintf(os.Stderr, "halo: %s takes no arguments, got %q\n", verb, args)
	return false
}

// A fact is one line of halo info.
type fact struct{ name, value string }

func infoMain(args []string) int {
	if len(args) == 3 && args[0] == probeWord {
		return probeChild(args[1:])
	}
	if len(args) == 4 && args[0] == "-grid" && args[2] == "-slots" {
		return gridMain(args[1], args[3])
	}
	if !noArguments("info", "tells about this build, this machine, and what they can do; with -grid 4x6 -slots 12,12, what reordering a grid on hosts gains", args) {
		return 2
	}
	for _, f := range facts() {
		fmt.Printf("%-14s %s\n", f.name, f.value)
	}
	return algorithmsMain()
}

// facts is everything that halo info tells.
func facts() []fact {
	all := []fact{
		{"halo", boot.Build()},
		{"built with", fmt.Sprintf("%s for %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		{"speaks", boot.Versions()},
	}
	if host, err := os.Hostname(); err == nil {
		all = append(all, fact{"host", host})
	}
	all = append(all, fact{"cores", cores()}, fact{"fabrics", fabrics()}, fact{"single copy", singleCopy()}, fact{"files", file.Ways()})
	return all
}

func cores() string {
	s := fmt.Sprint(runtime.NumCPU())
	if limit := runtime.GOMAXPROCS(0); limit < runtime.NumCPU() {
		s += fmt.Sprintf(", of which a limit (cgroup or GOMAXPROCS) allows %d", limit)
	}
	return s
}

// fabrics names the fabrics that work on this machine.
func fabrics() string {
	between := "tcp"
	if runtime.GOOS == "linux" {
		between = "shm, tcp"
		if f, err := sys.Memfd("halo-info", 1); err != nil {
			between = fmt.Sprintf("tcp (shm: %v)", err)
		} else {
			f.Close()
		}
	}
	return between + " between processes; inproc between goroutines"
}
