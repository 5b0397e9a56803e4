//go:build unix

package program

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// NotLoaded says what may be missing when a program ends with status 127. For a dynamically
// linked program the status does not tell whether its loader has failed, or whether the program,
// which may be a shell, has exited with that status.
func NotLoaded(file string) string {
	if _, dynamic := libraries(file); dynamic {
		return fmt.Sprintf("either the dynamic loader did not find a library or symbol that %s needs (ldd shows where libraries are found, "+
			"and LD_LIBRARY_PATH, by -x on other hosts, adds directories), or the program, such as a shell, did not find a command; "+
			"the message before this one names it", file)
	}
	return "a command, or a library of one, was not found, as its own message says"
}

// UsesABI reports whether a program is linked with the library of the standard ABI.
func UsesABI(file string) bool {
	names, _ := libraries(file)
	return slices.ContainsFunc(names, isABI)
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

// LinkedMPI is the library of another MPI that a program is linked with; "" if there is none.
func LinkedMPI(file string) string {
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

// SpeaksPMI reports whether a library of another MPI connects to this launcher, by PMI-1.
func SpeaksPMI(library string) bool { return strings.Contains(Maker(library), "MPICH") }

// Maker is the MPI implementation that a library belongs to, "" if its name does not tell.
func Maker(library string) string {
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
