//go:build linux

package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tool is a build tool, or a way to call one, that builds programs with the installation.
type tool struct {
	needs []string          // tools that the machine may lack
	env   []string          // ... with @PREFIX@ for the installation
	files map[string]string // of the project, beside the sources
	build []string          // commands, run in the folder of the project
	makes []string          // programs that pass a token on, or print that there are no errors
}

// cmakeProject is a project for FindMPI with programs in all languages.
const cmakeProject = `cmake_minimum_required(VERSION 3.10)
project(t C CXX Fortran)
find_package(MPI REQUIRED COMPONENTS C CXX Fortran)
add_executable(c ring.c)
target_link_libraries(c MPI::MPI_C)
add_executable(cxx ring.cc)
target_link_libraries(cxx MPI::MPI_CXX)
add_executable(f ring_f08.f90)
target_link_libraries(f MPI::MPI_Fortran)
`

// A project of autoconf finds MPI by the wrappers, and functions without further libraries.
const autoconfProject = `AC_INIT([t],[1])
AC_PROG_CC
AC_PROG_CXX
AC_PROG_F77
AC_PROG_FC
AC_CHECK_HEADER([mpi.h],[],[AC_MSG_ERROR([no mpi.h])])
AC_SEARCH_LIBS([MPI_Init],[mpi],[],[AC_MSG_ERROR([no MPI_Init])])
test "$ac_cv_search_MPI_Init" = "none required" || AC_MSG_ERROR([MPI_Init wants $ac_cv_search_MPI_Init])
AC_LANG_PUSH([Fortran 77])
AC_LINK_IFELSE([AC_LANG_CALL([],[MPI_INIT])],[],[AC_MSG_ERROR([no MPI_INIT])])
AC_LANG_POP
AC_LANG_PUSH([Fortran])
AC_FC_SRCEXT([f90])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([],[use mpi_f08])],[],[AC_MSG_ERROR([no mpi_f08])])
AC_LANG_POP
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
`

const autoconfRules = `all: c cxx f
c: ring.c
	@CC@ -o c ring.c
cxx: ring.cc
	@CXX@ -o cxx ring.cc
f: ring_f08.f90
	@FC@ -o f ring_f08.f90
`

const mesonProject = `project('t', 'c', 'cpp', 'fortran')
executable('c', 'ring.c', dependencies: dependency('mpi', language: 'c'))
executable('cxx', 'ring.cc', dependencies: dependency('mpi', language: 'cpp'))
executable('f', 'ring_f08.f90', dependencies: dependency('mpi', language: 'fortran'))
`

// cmake is CMake with compilers, as variables of the environment.
func cmake(compilers ...string) tool {
	t := tool{needs: []string{"cmake"}, env: compilers, files: map[string]string{"CMakeLists.txt": cmakeProject},
		build: []string{"cmake -S . -B .", "cmake --build ."}, makes: []string{"c", "cxx", "f"}}
	for _, c := range compilers {
		if _, is, _ := strings.Cut(c, "="); !strings.HasPrefix(is, "./") {
			t.needs = append(t.needs, is)
		}
	}
	return t
}

// wrapped compiles by the wrappers with options.
func wrapped(options string) tool {
	return tool{build: []string{"mpicc " + options + " -o c ring.c", "mpicxx " + options + " -o cxx ring.cc", "mpif90 " + options + " -o f ring_f08.f90"},
		makes: []string{"c", "cxx", "f"}}
}

func buildTools() map[string]tool {
	return map[string]tool{
		"FindMPI/as Debian calls them": cmake("CC=/usr/bin/cc", "CXX=/usr/bin/c++", "FC=/usr/bin/f95"),
		"FindMPI/its own choice":       cmake(),
		"FindMPI/gcc":                  cmake("CC=gcc", "CXX=g++", "FC=gfortran"),
		"FindMPI/with a version":       cmake("CC=gcc-12", "CXX=g++-12", "FC=gfortran-12"),
		"FindMPI/with the machine":     cmake("CC=x86_64-linux-gnu-gcc", "CXX=x86_64-linux-gnu-g++", "FC=x86_64-linux-gnu-gfortran"),
		"FindMPI/the wrappers":         cmake("CC=mpicc", "CXX=mpicxx", "FC=mpifort"),
		"pkg-config": {needs: []string{"pkg-config", "f77"}, makes: []string{"c", "cxx", "f"}, build: []string{
			"cc -o c ring.c $(pkg-config --cflags --libs mpi-c)", "c++ -o cxx ring.cc $(pkg-config --cflags --libs mpi-cxx)",
			"f77 -o f ring_f08.f90 $(pkg-config --cflags --libs mpi-fort)"}},
		"autoconf": {needs: []string{"autoconf"}, env: []string{"CC=mpicc", "CXX=mpicxx", "F77=mpif77", "FC=mpif90"},
			files: map[string]string{"configure.ac": autoconfProject, "Makefile.in": autoconfRules},
			build: []string{"autoconf", "./configure", "make MAKEFLAGS="}, makes: []string{"c", "cxx", "f"}},
		"meson": {needs: []string{"meson", "ninja"}, files: map[string]string{"meson.build": mesonProject},
			build: []string{"meson setup out", "ninja -C out"}, makes: []string{"out/c", "out/cxx", "out/f"}},
		"LTO":                 wrapped("-O2 -flto"),
		"LTO, static":         wrapped("-O2 -flto -static-mpi"),
		"sanitizer/undefined": wrapped("-fsanitize=undefined -fno-sanitize-recover"),
		"sanitizer/address":   wrapped("-fsanitize=address"),
		"sanitizer/thread":    wrapped("-fsanitize=thread"),
	}
}

// BRD-10: build tools find C, C++ and Fortran in the installation, and what they build runs.
func TestBRD10_BuildTools(t *testing.T) {
	needFortran(t)
	need(t, "g++", "gfortran")
	notSanitizing(t)
	source := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	ring, fortran := source("ring.c"), source("fortran/ring_f08.f90")
	for name, c := range buildTools() {
		t.Run(name, func(t *testing.T) {
			for _, n := range c.needs {
				if _, err := exec.LookPath(n); err != nil && !strings.HasPrefix(n, "mpi") {
					t.Skipf("there is no %s here", n)
				}
			}
			t.Parallel()
			dir := t.TempDir()
			files := map[string]string{"ring.c": ring, "ring.cc": ring, "ring_f08.f90": fortran}
			for name, text := range c.files {
				files[name] = text
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			env := append([]string{"PATH=" + filepath.Join(installed, "bin") + ":" + os.Getenv("PATH"), "PKG_CONFIG_PATH=" + filepath.Join(installed, "lib/pkgconfig")}, c.env...)
			for _, line := range c.build {
				r := command(t, env, "sh", "-c", "cd "+dir+" && "+line)
				if r.status != 0 || strings.Contains(r.out+r.err, "non-existent") {
					t.Fatalf("%s: status %d\n%s%s", line, r.status, r.out, r.err)
				}
			}
			for _, program := range c.makes {
				r := launched(t, "shm", 2, nil, filepath.Join(dir, program))
				if r.status != 0 || r.err != "" || r.out != "the token is 1 after 2 ranks\n" && r.out != "no errors\n" {
					t.Errorf("%s: %+v", program, r)
				}
			}
		})
	}
}

// BRD-10: mpifort finds the modules by whatever name its compiler is called. A compiler of another family has none.
func TestBRD10_FamiliesOfFortran(t *testing.T) {
	needFortran(t)
	t.Parallel()
	dir := t.TempDir()
	gfortran, err := exec.LookPath("gfortran")
	if err != nil {
		t.Skip("there is no gfortran here")
	}
	script(t, filepath.Join(dir, "ifort"), "echo 'ifort (IFORT) 2021.9.0 20230302'\n")
	script(t, filepath.Join(dir, "nag"), "echo 'NAG Fortran Compiler'\n")
	script(t, filepath.Join(dir, "ours"), "exec "+gfortran+` "$@"`+"\n")
	script(t, filepath.Join(dir, "launcher"), `exec "$@"`+"\n")
	for from, to := range map[string]string{"f95": gfortran, "f77": "f95", "fc": "ifort"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for compiler, family := range map[string]string{
		"gfortran": "gfortran", gfortran: "gfortran", "gfortran-12": "gfortran", "/opt/bin/x86_64-linux-gnu-gfortran-14": "gfortran",
		"f95": "gfortran", "f77": "gfortran", dir + "/f95": "gfortran", "ours": "gfortran", "launcher gfortran": "gfortran", "f95 -O2": "gfortran",
		"ifort": "ifort", "fc": "ifort", "ifx": "ifx", "flang-new-17": "flang", "nvfortran": "nvfortran", "nag": "nag", "no-such": "no-such",
	} {
		env := []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "MPICH_FC=" + compiler}
		r := command(t, env, bin("mpifort"), "--showme:incdirs")
		if want := filepath.Join(installed, "include/fortran", family) + "\n"; r.status != 0 || !strings.HasSuffix(r.out, " "+want) {
			t.Errorf("%s: status %d, %q%s, want %q", compiler, r.status, r.out, r.err, want)
		}
	}
}

// mpif77 and mpif90 compile programs that call MPI by mpif.h with buffers of different types, as those of MPICH
// do. gfortran refuses them otherwise since version 10.
func TestBRD10_CallsOfOldPrograms(t *testing.T) {
	needFortran(t)
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "old.f")
	const text = "      program old\n      integer e, i(2)\n      real r(2)\n      external other\n" +
		"      call other(i, e)\n      call other(r, e)\n      end\n      subroutine other(b, e)\n      integer b(2), e\n      e = 0\n      end\n"
	if err := os.WriteFile(program, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mpif77", "mpif90"} {
		if r := command(t, nil, bin(name), "-o", filepath.Join(dir, name), program); r.status != 0 {
			t.Errorf("%s: status %d\n%s", name, r.status, r.err)
		}
		for _, ask := range []string{"-show", "--showme:compile", "-compile-info"} {
			if r := command(t, nil, bin(name), ask); !strings.Contains(r.out, "-fallow-argument-mismatch") {
				t.Errorf("%s %s: %q", name, ask, r.out)
			}
		}
		if r := command(t, nil, bin(name), "-show", "-fc=ifx"); strings.Contains(r.out, "-fallow-argument-mismatch") {
			t.Errorf("%s with another compiler: %q", name, r.out)
		}
	}
	if r := command(t, nil, bin("mpifort"), "-show"); strings.Contains(r.out, "-fallow-argument-mismatch") {
		t.Errorf("mpifort: %q", r.out)
	}
}

// Libraries and programs can be executed, all other files only be read, by everybody.
func TestBRD10_ModesOfFiles(t *testing.T) {
	need(t)
	err := filepath.WalkDir(installed, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o644)
		if d.IsDir() || strings.HasPrefix(path, bin("")) || strings.Contains(d.Name(), ".so") {
			want = 0o755
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %04o, want %04o", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
