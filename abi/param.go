package abi

import (
	"fmt"
	"regexp"
	"strings"
)

// Param is a parameter of a procedure in C.
type Param struct {
	Name  string // "" for "..."
	Base  string // the type without const, stars and brackets: "int", "MPI_Comm", "void", "MPI_User_function"
	Stars int    // levels of indirection: stars and pairs of brackets
	Const bool
	Array bool   // the parameter has brackets
	Text  string // the declaration in C
}

var paramForm = regexp.MustCompile(`^(const )?((?:unsigned )?\w+) ?((?:\*(?:const )?)*) ?(\w+)((?:\[\d*\])*)$`)

// parseParams parses a parameter list of C, without its parentheses.
func parseParams(text string) ([]Param, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "void" {
		return nil, nil
	}
	var list []Param
	for _, one := range strings.Split(text, ",") {
		one = strings.TrimSpace(one)
		if one == "..." {
			list = append(list, Param{Text: one})
			continue
		}
		m := paramForm.FindStringSubmatch(one)
		if m == nil {
			return nil, fmt.Errorf("parameter %q is not understood", one)
		}
		list = append(list, Param{
			Name: m[4], Base: m[2], Const: m[1] != "", Array: m[5] != "", Text: one,
			Stars: strings.Count(m[3], "*") + strings.Count(m[5], "["),
		})
	}
	return list, nil
}

// Function reports whether the parameter is a function of the program.
func (p Param) Function() bool {
	return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(p.Base, "_c"), "_x"), "_function")
}

// Handle reports whether the parameter, or what it points to, is a handle.
func (p Param) Handle() bool { _, ok := handles[p.Base]; return ok }

// handles maps each handle type to the name of the library's table for it.
var handles = map[string]string{
	"MPI_Comm": "comms", "MPI_Group": "groups", "MPI_Datatype": "types", "MPI_Op": "ops", "MPI_Request": "requests",
	"MPI_Message": "messages", "MPI_Win": "wins", "MPI_Info": "infos", "MPI_Errhandler": "errhandlers",
	"MPI_Session": "sessions", "MPI_File": "files", "MPIX_Sync": "syncs",
}

// Table returns the name of the library's table for handles of the parameter's type.
func (p Param) Table() string { return handles[p.Base] }
