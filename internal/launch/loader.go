//go:build unix

package launch

import (
	"debug/elf"
	"fmt"
	"strings"
)

// loaderAdvice explains ranks that ended with status 127 before they called Init: so do the
// dynamic loader that does not find a library, and shells that do not find a command. ""
// if r did not end so.
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
	return fmt.Sprintf("%s (%s) exited with status %d before mpi.Init: %s", numbered("rank", list), r.host.name, statusNotFound,
		notLoaded(j.appOf(r.index).file))
}

// lost reports whether the process ended as one whose loader or shell found something missing.
func (r *rank) lost() bool {
	return r.ended && !r.joined && !r.status.Signaled() && r.status.ExitStatus() == statusNotFound
}

// notLoaded says what is missing to a program that ends with status 127.
func notLoaded(file string) string {
	if _, dynamic := libraries(file); dynamic {
		return fmt.Sprintf("the dynamic loader did not find a library or symbol that %s needs; its own message names it, "+
			"ldd shows where libraries are found, and LD_LIBRARY_PATH (-x for other hosts) adds directories", file)
	}
	return "a command, or a library of one, was not found, as its own message says"
}

// libraries are the names of those that an ELF program is linked with. dynamic is false
// of what no dynamic loader starts.
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
// libmpi_abi is none: any implementation, Halo too, may stand behind that name.
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
		if strings.HasPrefix(name, "libmpi_abi.so") {
			return ""
		}
		if found == "" && isOtherMPI(name) {
			found = name
		}
	}
	return found
}

// maker says whose library that is, "" if the name does not tell.
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
