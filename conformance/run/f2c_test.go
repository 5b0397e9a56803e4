//go:build linux

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The library between C and Fortran needs nothing but symbols of the standard ABI, so that it works
// over any library of the ABI (X-ABI-02): here over one that has no more than these few, and other
// integers for handles than Halo.
func TestXABI02_F2COverAnotherLibrary(t *testing.T) {
	need(t)
	var library, program strings.Builder
	library.WriteString("#define HALO_NO_F2C\n#include <mpi.h>\n#include <stdint.h>\n#include <stdio.h>\n")
	program.WriteString("#include <mpi.h>\n#include <stdio.h>\n#include <string.h>\nint main(void) {\n\tint wrong = 0;\n")
	for name, kind := range map[string]string{
		"Comm": "Comm", "Errhandler": "Errhandler", "File": "File", "Group": "Group", "Info": "Info", "Message": "Message",
		"Op": "Op", "Request": "Request", "Session": "Session", "Type": "Datatype", "Win": "Win",
	} {
		fmt.Fprintf(&library, "int PMPI_%s_toint(MPI_%s h) { return 100000 - (int)(intptr_t)h; }\n", name, kind)
		fmt.Fprintf(&library, "MPI_%s PMPI_%s_fromint(int n) { return (MPI_%s)(intptr_t)(100000 - n); }\n", kind, name, kind)
		fmt.Fprintf(&program, "\tMPI_%s %s = (MPI_%s)(intptr_t)0x177;\n", kind, name, kind)
		fmt.Fprintf(&program, "\tif (MPI_%s_c2f(%s) != 100000 - 0x177 || MPI_%s_f2c(MPI_%s_c2f(%s)) != %s) puts(\"%s\"), wrong = 1;\n", name, name, name, name, name, name, name)
	}
	library.WriteString(`int PMPI_Initialized(int *flag) { *flag = 1; return 0; }
int PMPI_Finalized(int *flag) { *flag = 0; return 0; }
int PMPI_Add_error_code(int class, int *code) { *code = class + 1000; return 0; }
int PMPI_Add_error_string(int code, const char *text) { printf("%d: %s\n", code, text); return 0; }
int PMPI_Comm_call_errhandler(MPI_Comm c, int code) { printf("%d of %s\n", code, c == MPI_COMM_SELF ? "self" : "another"); return 0; }
`)
	program.WriteString(`
	MPI_Status a = {.MPI_SOURCE = 1, .MPI_TAG = 2, .MPI_ERROR = 3, .MPI_internal = {4, 5, 6, 7, 8}}, b;
	MPI_Fint f[MPI_F_STATUS_SIZE];
	MPI_F08_status g;
	MPI_Status_c2f(&a, f), MPI_Status_f2f08(f, &g), MPI_Status_f082c(&g, &b);
	if (memcmp(&a, &b, sizeof a)) puts("status"), wrong = 1;
	if (PMPI_Status_f2c(MPI_F_STATUS_IGNORE, &b) != 1000 + MPI_ERR_ARG) puts("code"), wrong = 1;
	return wrong;
}
`)
	dir := t.TempDir()
	for name, text := range map[string]string{"library.c": library.String(), "program.c": program.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, "program")
	if r := command(t, nil, "gcc", "-Wall", "-Werror", "-I"+filepath.Join(installed, "include"), "-o", to, filepath.Join(dir, "program.c"),
		filepath.Join(dir, "library.c"), filepath.Join(installed, "lib/libmpi_f2c.a")); r.status != 0 || r.err != "" {
		t.Fatalf("gcc: status %d\n%s%s", r.status, r.out, r.err)
	}
	want := "1013: MPI_Status_f2c: the f_status is null or one of the constants to ignore statuses, and not a status\n1013 of self\n"
	if r := command(t, nil, to); r.status != 0 || r.out != want {
		t.Errorf("%+v, want %q", r, want)
	}
}
