package lint

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lack is a chapter of the standard that the engine does not implement completely.
type lack struct {
	title string
	names []string
}

// lacks returns the chapters of the standard that the engine does not implement completely, with
// the prefixes or parts of the names of their procedures in C. The first match counts.
func lacks() []lack {
	return []lack{
		{"Files", []string{"MPI_File_", "MPI_Register_datarep"}},
		{"Neighbourhood collectives", []string{"eighbor_a"}},
		{"Topologies", []string{"MPI_Cart", "MPI_Graph", "MPI_Dist_graph"}},
		{"Dynamic processes", []string{"MPI_Comm_spawn", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "_port", "_name"}},
	}
}

// Library returns the part of docs/conformance.md about the C library: the procedures of the
// standard that the library exports but the engine does not implement yet. They are the rows of
// abi/procedures.csv without a call, except for procedures that C implements by itself.
func Library(root string) (string, error) {
	f, err := os.Open(filepath.Join(root, "abi", "procedures.csv"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return "", err
	}
	parameters := map[string]int{}
	for _, r := range rows {
		parameters[r[0]] = strings.Count(r[2], ",")
	}
	names, count := make([]string, len(lacks())), 0
	for _, r := range rows[1:] {
		name, returns, call := r[0], r[1], r[3]
		n, small := parameters[strings.TrimSuffix(name, "_c")]
		// A variant with large counts and the same number of parameters uses the other's call.
		large := strings.HasSuffix(name, "_c") && small && n == parameters[name]
		if call != "" || returns != "int" || strings.HasSuffix(name, "_toint") || large {
			continue
		}
		i := lacking(name)
		if i < 0 {
			return "", fmt.Errorf("abi/procedures.csv: %s has no call, and is of no chapter that is known to lack something", name)
		}
		if names[i] != "" {
			names[i] += ", "
		}
		names[i] += name
		count++
	}
	var b strings.Builder
	if count == 0 {
		return "\n## C library\n\nThe library has all procedures of the standard's ABI, and the engine carries out all of them.\n", nil
	}
	fmt.Fprintf(&b, "\n## C library\n\nThe library has all procedures of the standard's ABI. These %d (and their forms with large\n"+
		"counts) the engine does not have yet: they return MPI_ERR_UNSUPPORTED_OPERATION, through the\n"+
		"error handler of the communicator or window among their arguments, else that of\n"+
		"MPI_COMM_SELF. Those of files only return it, as the handler of files does by default.\n\n"+
		"| Chapter | Procedures |\n|---|---|\n", count)
	for i, l := range lacks() {
		if names[i] != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", l.title, names[i])
		}
	}
	return b.String(), nil
}

// lacking returns the index in lacks of the chapter of a procedure, -1 if there is none.
func lacking(name string) int {
	for i, l := range lacks() {
		for _, part := range l.names {
			if strings.Contains(name, part) {
				return i
			}
		}
	}
	return -1
}
