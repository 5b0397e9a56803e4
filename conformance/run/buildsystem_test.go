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
// was moved, with an rpath without "..".
func TestPkgConfig(t *testing.T) {
	need(t, "pkg-config")
	t.Parallel()
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

// withoutFortran makes an installation like the one under test, but without a Fortran compiler.
func withoutFortran(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"bin", "include", "lib"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(from, to string) {
		if err := os.Symlink(from, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{bin("mpicc"): "bin/mpicc", "../../abi/wrap/mpifort": "bin/mpifort"} { // which find the rest beside themselves
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bin/mpiexec", "bin/halo", "include/mpi.h", "include/mpi_f2c.h", "lib/libmpi_abi.so", "lib/libmpi_abi.so.1", "lib/libmpi_f2c.so", "lib/libmpi_f2c.so.0"} {
		link(filepath.Join(installed, name), name)
	}
	link("mpicc", "bin/mpicxx")
	link("mpifort", "bin/mpif90")
	link("mpifort", "bin/mpif77")
	return dir
}

// CMake takes C, C++ and Fortran from the installation, even if another MPI follows in PATH: two
// libraries of MPI in one program would fail in obscure ways. An installation
// without Fortran is reported as such, and Fortran is not taken from the other MPI. The package file
// gives the same without running compilers.
func TestCMakeBesideAnotherMPI(t *testing.T) {
	needFortran(t)
	need(t, "cmake", "g++")
	t.Parallel()
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	for _, d := range []string{other, filepath.Join(dir, "module"), filepath.Join(dir, "config"), filepath.Join(dir, "without")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mpifort", "mpif90", "mpif77", "mpicc", "mpicxx"} {
		script(t, filepath.Join(other, name), fmt.Sprintf("echo -I%s -L%s -lother_mpi\n", other, other))
	}
	const project = "cmake_minimum_required(VERSION 3.10)\nproject(t %s)\nfind_package(MPI %s OPTIONAL_COMPONENTS Fortran)\n" +
		"message(\"found <${MPI_C_FOUND}> <${MPI_CXX_FOUND}> <${MPI_Fortran_FOUND}>\")\n" +
		"message(\"methods <${MPI_Fortran_HAVE_F77_HEADER}> <${MPI_Fortran_HAVE_F90_MODULE}> <${MPI_Fortran_HAVE_F08_MODULE}>\")\n" +
		"message(\"libraries <${MPI_C_LIBRARIES}> <${MPI_CXX_LIBRARIES}> <${MPI_Fortran_LIBRARIES}>\")\nmessage(\"launcher <${MPIEXEC_EXECUTABLE}>\")\n" +
		"add_executable(ring %[3]s/ring.c)\ntarget_link_libraries(ring MPI::MPI_C)\n" +
		"if(MPI_Fortran_FOUND)\n  add_executable(ringf %[3]s/fortran/ring_f08.f90)\n  target_link_libraries(ringf MPI::MPI_Fortran)\nendif()\n"
	sources, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"other/mpif.h": "      integer, parameter :: MPI_INTEGER_KIND = 4, MPI_COMM_WORLD = 0, MPI_MAX_LIBRARY_VERSION_STRING = 64\n      integer, parameter :: MPI_VERSION = 3, MPI_SUBVERSION = 1\n",
		"other/mpi.f90": "module mpi\n  integer, parameter :: MPI_INTEGER_KIND = 4, MPI_COMM_WORLD = 0, MPI_MAX_LIBRARY_VERSION_STRING = 64\n" +
			"  integer, parameter :: MPI_VERSION = 3, MPI_SUBVERSION = 1\nend module\n" +
			"subroutine mpi_init(e)\n  integer e\nend\nsubroutine mpi_finalize(e)\n  integer e\nend\nsubroutine mpi_comm_rank(c, r, e)\n  integer c, r, e\nend\n" +
			"subroutine mpi_get_version(v, s, e)\n  integer v, s, e\nend\nsubroutine mpi_get_library_version(s, l, e)\n  character(*) s\n  integer l, e\nend\n",
		"module/CMakeLists.txt":  fmt.Sprintf(project, "C CXX Fortran", "COMPONENTS C CXX", sources),
		"config/CMakeLists.txt":  fmt.Sprintf(project, "C Fortran", "3.1 CONFIG REQUIRED COMPONENTS C CXX", sources),
		"without/CMakeLists.txt": fmt.Sprintf(project, "C Fortran", "COMPONENTS C", sources),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := command(t, nil, "gfortran", "-J"+other, "-shared", "-fPIC", "-o", filepath.Join(other, "libother_mpi.so"), filepath.Join(other, "mpi.f90")); r.status != 0 {
		t.Fatalf("gfortran: %s%s", r.out, r.err)
	}
	for _, c := range []struct{ name, prefix, found, methods string }{
		{"module", installed, "<TRUE> <TRUE> <TRUE>", "<TRUE> <TRUE> <TRUE>"},
		{"config", installed, "<TRUE> <TRUE> <TRUE>", "<TRUE> <TRUE> <TRUE>"},
		{"without", withoutFortran(t), "<TRUE> <> <FALSE>", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := strings.Join([]string{filepath.Join(c.prefix, "bin"), other, os.Getenv("PATH")}, ":")
			if c.name == "config" {
				path = strings.Join([]string{other, os.Getenv("PATH")}, ":")
			}
			env := []string{"PATH=" + path, "PKG_CONFIG_PATH=" + other, "PKG_CONFIG_LIBDIR=" + other, "CMAKE_PREFIX_PATH=" + c.prefix}
			build := filepath.Join(t.TempDir(), "build")
			r := command(t, env, "cmake", "-S", filepath.Join(dir, c.name), "-B", build)
			libraries := filepath.Join(c.prefix, "lib/libmpi_f2c.so") + ";" + filepath.Join(c.prefix, "lib/libmpi_abi.so")
			says := []string{
				"found " + c.found + "\n", "methods " + c.methods, "libraries <" + libraries + "> <",
				"launcher <" + filepath.Join(c.prefix, "bin/mpiexec") + ">",
			}
			if c.methods != "" {
				says = append(says, "<"+libraries+"> <"+libraries+"> <"+filepath.Join(c.prefix, "lib/libmpifort_abi.so")+";"+libraries+">\n")
			}
			for _, text := range says {
				if r.status != 0 || !strings.Contains(r.out+r.err, text) {
					t.Fatalf("it does not say %q: status %d\n%s%s", text, r.status, r.out, r.err)
				}
			}
			if r := command(t, env, "cmake", "--build", build); r.status != 0 {
				t.Fatalf("build: %s%s", r.out, r.err)
			}
			if r := launched(t, "shm", 2, nil, filepath.Join(build, "ring")); r != (result{out: "the token is 1 after 2 ranks\n"}) {
				t.Errorf("%+v", r)
			}
			if c.methods != "" {
				if r := launched(t, "shm", 2, nil, filepath.Join(build, "ringf")); r != (result{out: "no errors\n"}) {
					t.Errorf("in Fortran: %+v", r)
				}
			}
		})
	}
}
