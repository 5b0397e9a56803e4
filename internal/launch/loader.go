//go:build unix

package launch

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/wording"
)

// loaderAdvice explains why r ended with status 127 before it called Init: the dynamic loader
// ends so if it does not find a library, and a shell if it does not find a command. It is ""
// if r ended otherwise.
func loaderAdvice(j *job, r *rank) string {
	var list []int
	for _, other := range j.ranks {
		if other.lost() {
			list = append(list, other.index)
		}
	}
	if !r.lost() {
		return ""
	}
	return fmt.Sprintf("%s (%s) exited with status %d before %s: %s", wording.Numbered("rank", list), r.host.name, exit.NotFound, j.nameOfInit(r),
		notLoaded(j.appOf(r.index).File))
}

// lost reports whether the process ended as one whose loader or shell found something missing.
func (r *rank) lost() bool {
	return r.ended && !r.joined && !r.status.Signaled() && r.status.ExitStatus() == exit.NotFound
}

// notLoaded says what may be missing when a program ends with status 127. For a dynamically
// linked program the status does not tell whether its loader has failed, or whether the program,
// which may be a shell, has exited with that status.
func notLoaded(file string) string {
	if _, dynamic := libraries(file); dynamic {
		return fmt.Sprintf("either the dynamic loader did not find a library or symbol that %s needs (ldd shows where libraries are found, "+
			"and LD_LIBRARY_PATH, by -x on other hosts, adds directories), or the program, such as a shell, did not find a command; "+
			"the message before this one names it", file)
	}
	return "a command, or a library of one, was not found, as its own message says"
}

// nameOfInit is the name of Init in the language of r's program: that of other ranks of the
// program, or the one that its libraries show.
func (j *job) nameOfInit(r *rank) string {
	app := j.appOf(r.index)
	for _, other := range j.ranks {
		if other.joined && j.appOf(other.index) == app {
			return wording.Calls("mpi.Init", other.inC)
		}
	}
	if names, _ := libraries(app.File); slices.ContainsFunc(names, isABI) {
		return "MPI_Init"
	}
	return "mpi.Init or MPI_Init"
}

// isABI reports whether a library name is that of the standard ABI.
func isABI(name string) bool { return strings.HasPrefix(name, "libmpi_abi.so") }

// libraries returns the names of the libraries that an ELF program is linked with. dynamic is
// false if no dynamic loader starts the program.
func libraries(file string) (names []string, dynamic bool) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	names, err = f.ImportedLibraries()
	return names, err == nil && len(names) > 0
}

// isOtherMPI reports whether a file name is that of an MPI library that is not Halo's.
// libmpi_abi does not count: any implementation, Halo too, may have that name.
func isOtherMPI(name string) bool {
	stem, version, ok := strings.Cut(name, ".so")
	if !ok || strings.Trim(version, ".0123456789") != "" {
		return false
	}
	stem, ok = strings.CutPrefix(stem, "libmpi")
	if part, mpich := strings.CutPrefix(stem, "ch"); mpich {
		stem = part
	}
	switch stem {
	case "", "cxx", "_cxx", "fort", "_mpifh":
		return ok
	}
	return ok && strings.HasPrefix(stem, "_usempi")
}

// linkedMPI is the library of another MPI that a program is linked with; "" if there is none.
func linkedMPI(file string) string {
	names, _ := libraries(file)
	found := ""
	for _, name := range names {
		if isABI(name) {
			return ""
		}
		if found == "" && isOtherMPI(name) {
			found = name
		}
	}
	return found
}

// speaksPMI reports whether a library of another MPI connects to this launcher: see pmi.go.
func speaksPMI(library string) bool { return strings.Contains(maker(library), "MPICH") }

// maker is the MPI implementation that a library belongs to, "" if its name does not tell.
func maker(library string) string {
	switch {
	case strings.HasPrefix(library, "libmpich"), library == "libmpifort.so.12", library == "libmpicxx.so.12":
		return " (MPICH)"
	case strings.HasSuffix(library, ".so.12"):
		return " (MPICH or Intel MPI)"
	case strings.HasSuffix(library, ".so.40"), strings.HasSuffix(library, ".so.20"):
		return " (Open MPI)"
	}
	return ""
}
