//go:build linux

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/abi"
)

// nothings are meaningless values for all handles, numbers and addresses of a call. The handle 1 stands
// for predefined handles.
const nothings = `
static const struct {
	const char *name;
	intptr_t handle, number;
	void *address;
} nothings[] = {
	{"zero", 0, 0, 0}, {"wild", -1, -1, 0}, {"far", 0x7ffff00d, 1, 0}, {"valid", 1, 1, 0}, {"negative", 1, -7, 0},
	{"low", 1, 1, (void *)8}, /* what no memory has, and no constant is */
};
`

// predefined are predefined handles, by their type.
var predefined = map[string]string{
	"MPI_Comm": "MPI_COMM_SELF", "MPI_Datatype": "MPI_INT", "MPI_Op": "MPI_SUM", "MPI_Group": "MPI_GROUP_EMPTY", "MPI_Info": "MPI_INFO_ENV",
	"MPI_Errhandler": "MPI_ERRORS_RETURN", "MPI_Message": "MPI_MESSAGE_NO_PROC",
}

// A call of any procedure with meaningless arguments returns, with an error or without,
// and communication works after all of them.
func TestArgumentsThatMeanNothing(t *testing.T) {
	need(t)
	t.Parallel()
	all, err := abi.Procedures()
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	source.WriteString("#include \"check.h\"\n\n#include <stdint.h>\n" + nothings + `
int main(int argc, char **argv) {
	begin(&argc, &argv);
	const char *only = argc > 1 ? argv[1] : "";
	for (size_t i = 0; i < sizeof nothings / sizeof *nothings; i++) {
		volatile intptr_t handle = nothings[i].handle, number = nothings[i].number;
		void *volatile address = nothings[i].address;
		if (argc > 2 && strcmp(argv[2], nothings[i].name) != 0) continue;
`)
	for _, p := range all {
		for q := p; q != nil; q = q.Large {
			if !callable(q) {
				continue
			}
			var list []string
			for _, x := range q.Params {
				if x.Name != "" {
					list = append(list, argument(x))
				}
			}
			fmt.Fprintf(&source, "\t\tif (!*only || strcmp(only, %q) == 0) %s(%s);\n", q.Name, q.Name, strings.Join(list, ", "))
		}
	}
	source.WriteString("\t}\n\tint v = 1, all = 0;\n\tOK(MPI_Allreduce(&v, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));\n\tCHECK(all == size);\n\treturn done();\n}\n")
	name := filepath.Join(t.TempDir(), "nothing.c")
	if err := os.WriteFile(name, []byte(source.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	program := compile(t, "mpicc", name, "-I..", "-O0")
	for _, fabric := range []string{"shm", "tcp"} {
		r := launched(t, fabric, 2, nil, program)
		if r.status != 0 || r.err != "" || r.out != "no errors\n" {
			t.Errorf("%s: status %d\n%.3000s%.3000s", fabric, r.status, r.out, r.err)
		}
	}
}

// callable reports whether a call with meaningless arguments must return.
func callable(p *abi.Procedure) bool {
	switch p.Name {
	case "MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol":
		return false
	}
	return true
}

// argument returns a C expression for a parameter.
func argument(x abi.Param) string {
	kind := x.Base
	switch {
	case x.Function(), x.Stars > 0:
		return "address"
	case x.Handle() || strings.HasPrefix(kind, "MPI_T_") && kind != "MPI_T_cb_safety":
		if predefined[kind] != "" {
			return fmt.Sprintf("handle == 1 ? %s : (%s)handle", predefined[kind], kind)
		}
		return "(" + kind + ")handle"
	}
	return "(" + kind + ")number"
}
