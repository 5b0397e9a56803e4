//go:build linux

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pkg-config finds the library under the names of other implementations, in the folder to which it
// was moved, with an rpath without ".." (issue 19, section 1).
func TestPkgConfig(t *testing.T) {
	need(t, "pkg-config")
	env := []string{"PKG_CONFIG_PATH=" + filepath.Join(installed, "lib/pkgconfig")}
	for _, name := range []string{"halo", "mpi", "mpi-c", "mpi-cxx"} {
		r := command(t, env, "pkg-config", "--cflags", "--libs", name)
		if r.status != 0 || strings.Contains(r.out, "..") {
			t.Fatalf("%s: status %d\n%s%s", name, r.status, r.out, r.err)
		}
		program := filepath.Join(t.TempDir(), "ring")
		args := append([]string{"-o", program, "../ring.c"}, strings.Fields(r.out)...)
		if r := command(t, nil, "gcc", args...); r.status != 0 {
			t.Fatalf("%s: gcc %q: status %d\n%s%s", name, args, r.status, r.out, r.err)
		}
		if r := launched(t, "shm", 2, nil, program); r != (result{out: "the token is 1 after 2 ranks\n"}) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// CMake takes C and C++ from the installation, and reports Fortran as missing, even if
// another MPI with a Fortran compiler follows in PATH: two libraries of MPI in one program
// would fail in obscure ways (issue 19, section 1).
func TestCMakeBesideAnotherMPI(t *testing.T) {
	need(t, "cmake", "gfortran", "g++")
	dir := t.TempDir()
	other, project := filepath.Join(dir, "other"), filepath.Join(dir, "project")
	for _, d := range []string{other, project} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mpifort", "mpif90", "mpif77", "mpicc", "mpicxx"} {
		script(t, filepath.Join(other, name), fmt.Sprintf("echo -I%s -L%s -lother_mpi\n", other, other))
	}
	for name, text := range map[string]string{
		"other/mpif.h": "      integer, parameter :: MPI_INTEGER_KIND = 4, MPI_COMM_WORLD = 0, MPI_MAX_LIBRARY_VERSION_STRING = 64\n      integer, parameter :: MPI_VERSION = 3, MPI_SUBVERSION = 1\n",
		"other/mpi.f90": "module mpi\n  integer, parameter :: MPI_INTEGER_KIND = 4, MPI_COMM_WORLD = 0, MPI_MAX_LIBRARY_VERSION_STRING = 64\n" +
			"  integer, parameter :: MPI_VERSION = 3, MPI_SUBVERSION = 1\nend module\n" +
			"subroutine mpi_init(e)\n  integer e\nend\nsubroutine mpi_finalize(e)\n  integer e\nend\nsubroutine mpi_comm_rank(c, r, e)\n  integer c, r, e\nend\n" +
			"subroutine mpi_get_version(v, s, e)\n  integer v, s, e\nend\nsubroutine mpi_get_library_version(s, l, e)\n  character(*) s\n  integer l, e\nend\n",
		"project/CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(t C CXX Fortran)\nfind_package(MPI COMPONENTS C CXX OPTIONAL_COMPONENTS Fortran)\n" +
			"message(\"found <${MPI_C_FOUND}> <${MPI_CXX_FOUND}> <${MPI_Fortran_FOUND}>\")\n" +
			"message(\"libraries <${MPI_C_LIBRARIES}> <${MPI_CXX_LIBRARIES}>\")\nmessage(\"launcher <${MPIEXEC_EXECUTABLE}>\")\n" +
			"add_executable(ring ring.c)\ntarget_link_libraries(ring MPI::MPI_C)\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ring, err := os.ReadFile("../ring.c")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "ring.c"), ring, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := command(t, nil, "gfortran", "-J"+other, "-shared", "-fPIC", "-o", filepath.Join(other, "libother_mpi.so"), filepath.Join(other, "mpi.f90")); r.status != 0 {
		t.Fatalf("gfortran: %s%s", r.out, r.err)
	}
	env := []string{
		"PATH=" + strings.Join([]string{filepath.Join(installed, "bin"), other, os.Getenv("PATH")}, ":"),
		"PKG_CONFIG_PATH=" + other, "PKG_CONFIG_LIBDIR=" + other,
	}
	build := filepath.Join(dir, "build")
	r := command(t, env, "cmake", "-S", project, "-B", build)
	libraries := filepath.Join(installed, "lib/libmpi_f2c.so") + ";" + filepath.Join(installed, "lib/libmpi_abi.so")
	for _, says := range []string{"found <TRUE> <TRUE> <FALSE>\n", "libraries <" + libraries + "> <" + libraries + ">\n", "launcher <" + bin("mpiexec") + ">"} {
		if r.status != 0 || !strings.Contains(r.out+r.err, says) {
			t.Fatalf("it does not say %q: status %d\n%s%s", says, r.status, r.out, r.err)
		}
	}
	if r := command(t, env, "cmake", "--build", build); r.status != 0 {
		t.Fatalf("build: %s%s", r.out, r.err)
	}
	if r := launched(t, "shm", 2, nil, filepath.Join(build, "ring")); r != (result{out: "the token is 1 after 2 ranks\n"}) {
		t.Errorf("%+v", r)
	}
	if r := command(t, nil, bin("mpifort"), "-c", "a.f90"); r.status != 1 || !strings.Contains(r.err, "no Fortran library yet") {
		t.Errorf("mpifort: %+v", r)
	}
}
