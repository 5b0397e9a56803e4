//go:build linux

package run

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mpifort answers the same questions as mpicc, with the modules of its compiler and the Fortran library. A
// compiler without modules is an error that says so. mpif77 and mpif90 are for old programs (BRD-10).
func TestFortranWrapperOptions(t *testing.T) {
	needFortran(t)
	include, lib := filepath.Join(installed, "include"), filepath.Join(installed, "lib")
	flags := "-I" + include + " -I" + include + "/fortran/gfortran"
	const old = "-fallow-argument-mismatch "
	const libraries = "-lmpifort_abi -Wl,--push-state,--as-needed -lmpi_f2c -Wl,--pop-state -lmpi_abi -pthread"
	link := fmt.Sprintf("-L%s -Wl,-rpath,%s %s", lib, lib, libraries)
	for _, c := range []struct{ compiler, options, out string }{
		{"mpifort", "-show", "gfortran " + flags + " " + link},
		{"mpif90", "--showme a.f90", "gfortran " + old + flags + " a.f90 " + link},
		{"mpif77", "-show -c a.f", "gfortran " + old + flags + " -c a.f"},
		{"mpifort", "-show -fc=gfortran-12 a.f90", "gfortran-12 " + flags + " a.f90 " + link},
		{"mpif90", "-show -f90=/opt/x86_64-linux-gnu-gfortran a.f90", "/opt/x86_64-linux-gnu-gfortran " + flags + " a.f90 " + link},
		{"mpifort", "-show -static-mpi a.f90", "gfortran " + flags + " a.f90 " + lib + "/libmpifort_abi.a " + lib + "/libmpi_f2c.a " + lib + "/libmpi_abi.a -pthread"},
		{"mpifort", "-compile-info", "gfortran " + flags},
		{"mpifort", "-link-info", "gfortran " + flags + " " + link},
		{"mpifort", "--showme:compile", flags},
		{"mpifort", "--showme:link", link},
		{"mpifort", "--showme:command", "gfortran"},
		{"mpifort", "--showme:incdirs", include + " " + include + "/fortran/gfortran"},
		{"mpifort", "--showme:libs", "mpifort_abi mpi_f2c mpi_abi"},
	} {
		r := command(t, []string{"FC=not-this"}, bin(c.compiler), strings.Fields(c.options)...)
		if r != (result{out: c.out + "\n"}) {
			t.Errorf("%s %s: status %d\n%s%swant\n%s", c.compiler, c.options, r.status, r.out, r.err, c.out)
		}
	}
	for env, is := range map[string]string{"MPIFORT_FC=a MPICH_FC=b": "a", "OMPI_FC=c": "c", "FC=d": "gfortran"} {
		if r := command(t, strings.Fields(env), bin("mpifort"), "--showme:command"); r.out != is+"\n" {
			t.Errorf("%s: %q, want %q", env, r.out, is)
		}
	}
	says := "mpifort: there are no modules of MPI for ifx: make install FC=ifx makes them. Installed are those for: gfortran\n"
	if r := command(t, nil, bin("mpifort"), "-fc=ifx", "-c", "a.f90"); r != (result{err: says, status: 1}) {
		t.Errorf("another compiler: %+v, want %q", r, says)
	}
	if r := command(t, nil, bin("mpifort"), "--version"); r.status != 0 || !strings.Contains(r.out, "GNU Fortran") {
		t.Errorf("--version: %+v", r)
	}
}

// Programs link with the shared library, by mpifort and by mpicc, and with the static one. A program in
// C needs nothing of Fortran (ENV-12).
func TestFortranLinks(t *testing.T) {
	needFortran(t)
	dir := t.TempDir()
	object := filepath.Join(dir, "ring.o")
	libraries := func(program string) []string {
		f, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		list, err := f.ImportedLibraries()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for name, args := range map[string][]string{
		"":       {bin("mpifort"), "-c", "-o", object, "../fortran/ring_f08.f90"},
		"shared": {bin("mpifort"), "-o", filepath.Join(dir, "shared"), "../fortran/ring_f08.f90"},
		"static": {bin("mpif90"), "-static-mpi", "-o", filepath.Join(dir, "static"), "../fortran/ring_f08.f90"},
	} {
		if r := command(t, nil, args[0], args[1:]...); r.status != 0 {
			t.Fatalf("%q: status %d\n%s%s", args, r.status, r.out, r.err)
		}
		if name == "" {
			continue
		}
		program := args[len(args)-2]
		if r := launched(t, "shm", 2, nil, program); r != (result{out: "no errors\n"}) {
			t.Errorf("%s: %+v", name, r)
		}
		if got := slices.Contains(libraries(program), "libmpifort_abi.so.1"); got != (name == "shared") {
			t.Errorf("%s needs %q", name, libraries(program))
		}
	}
	byC := filepath.Join(dir, "by-c")
	if r := command(t, nil, bin("mpicc"), "-o", byC, object, "-L"+filepath.Join(installed, "lib"), "-lmpifort_abi", "-lgfortran"); r.status != 0 {
		t.Fatalf("mpicc: status %d\n%s%s", r.status, r.out, r.err)
	}
	if r := launched(t, "shm", 2, nil, byC); r != (result{out: "no errors\n"}) {
		t.Errorf("linked by mpicc: %+v", r)
	}
	for _, l := range libraries(compile(t, "mpicc", "../ring.c")) {
		if strings.Contains(l, "fort") || strings.Contains(l, "f2c") {
			t.Errorf("a program in C needs %s", l)
		}
	}
}

// pkg-config finds the Fortran library.
func TestFortranPkgConfig(t *testing.T) {
	needFortran(t)
	need(t, "pkg-config")
	env := []string{"PKG_CONFIG_PATH=" + filepath.Join(installed, "lib/pkgconfig")}
	for _, name := range []string{"halo-fortran", "mpi-fort"} {
		r := command(t, env, "pkg-config", "--cflags", "--libs", name)
		if r.status != 0 || strings.Contains(r.out, "..") {
			t.Fatalf("%s: status %d\n%s%s", name, r.status, r.out, r.err)
		}
		program := filepath.Join(t.TempDir(), "ring")
		args := append([]string{"-o", program, "../fortran/ring_f08.f90"}, strings.Fields(r.out)...)
		if r := command(t, nil, "gfortran", args...); r.status != 0 {
			t.Fatalf("%s: gfortran %q: status %d\n%s%s", name, args, r.status, r.out, r.err)
		}
		if r := launched(t, "shm", 2, nil, program); r != (result{out: "no errors\n"}) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Without a Fortran compiler, and with one for another machine, the rest is installed. One line says what
// is left out, and mpifort says that it is not there.
func TestWithoutFortranCompiler(t *testing.T) {
	need(t)
	dir := t.TempDir()
	other := filepath.Join(dir, "other-gfortran")
	script(t, other, "echo another-machine\n")
	for compiler, says := range map[string]string{
		"no-such-fortran": "make install: there is no Fortran compiler no-such-fortran: mpif.h, the modules mpi and mpi_f08, and libmpifort_abi are left out (FC names a compiler)\n",
		other:             "make install: " + other + " compiles for another-machine, and gcc for ",
	} {
		prefix := t.TempDir()
		if err := os.Mkdir(filepath.Join(prefix, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		r := command(t, []string{"CC=gcc", "FC=" + compiler}, "sh", "-c", "cd ../.. && abi/fortran/install "+prefix)
		if r.status != 0 || r.err != "" || !strings.HasPrefix(r.out, says) || strings.Count(r.out, "\n") != 1 {
			t.Errorf("%s: %+v, want %q", compiler, r, says)
		}
		if r := command(t, nil, filepath.Join(prefix, "bin/mpifort"), "-c", "a.f90"); r.status != 1 || !strings.Contains(r.err, "has no Fortran library") {
			t.Errorf("mpifort: %+v", r)
		}
		if left, err := filepath.Glob(filepath.Join(prefix, "*/*")); err != nil || len(left) != 1 {
			t.Errorf("%q is installed, %v", left, err)
		}
	}
}
