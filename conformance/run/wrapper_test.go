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

// script makes an executable shell script.
func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// mpicc answers the questions that build systems ask the wrappers of other implementations. ENV-11: a program needs no other flags.
func TestWrapperOptions(t *testing.T) {
	need(t)
	t.Parallel()
	include, lib := filepath.Join(installed, "include"), filepath.Join(installed, "lib")
	compile := "-I" + include
	const f2c = "-Wl,--push-state,--as-needed -lmpi_f2c -Wl,--pop-state "
	link := fmt.Sprintf("-L%s -Wl,-rpath,%s %s-lmpi_abi -pthread", lib, lib, f2c)
	for _, c := range []struct{ compiler, options, out string }{
		{"mpicc", "-show", "gcc " + compile + " " + link},
		{"mpicc", "--show", "gcc " + compile + " " + link},
		{"mpicc", "-showme", "gcc " + compile + " " + link},
		{"mpicc", "--showme", "gcc " + compile + " " + link},
		{"mpicc", "--showme -c a.c", "gcc " + compile + " -c a.c"},
		{"mpicc", "-show -v a.c", "gcc " + compile + " -v a.c " + link},
		{"mpicc", "-show a.c -DX='1' -o it", "gcc " + compile + " a.c '-DX='\\''1'\\''' -o it " + link},
		{"mpicc", "-show -cc=clang a.c", "clang " + compile + " a.c " + link},
		{"mpicc", "-show -static-mpi a.c", "gcc " + compile + " a.c " + lib + "/libmpi_f2c.a " + lib + "/libmpi_abi.a -pthread"},
		{"mpicc", "-show -profile=mpi_compat a.c", "gcc " + compile + " a.c " + strings.Replace(link, f2c, "-lmpi_compat "+f2c, 1)},
		{"mpicc", "-show -nolinkmpi a.c", "gcc " + compile + " a.c"},
		{"mpicc", "-compile-info", "gcc " + compile},
		{"mpicc", "-compile_info", "gcc " + compile},
		{"mpicc", "-link-info", "gcc " + compile + " " + link},
		{"mpicc", "-link_info", "gcc " + compile + " " + link},
		{"mpicc", "-show-compile-info", compile},
		{"mpicc", "-show-link-info", link},
		{"mpicc", "--showme:compile", compile},
		{"mpicc", "-showme:compile", compile},
		{"mpicc", "--showme:link", link},
		{"mpicc", "--showme:command", "gcc"},
		{"mpicc", "--showme:incdirs", include},
		{"mpicc", "--showme:libdirs", lib},
		{"mpicc", "--showme:libs", "mpi_f2c mpi_abi"},
		{"mpicxx", "--showme:command", "g++"},
		{"mpic++", "--showme:libs", "mpi_f2c mpi_abi"},
		{"mpiCC", "-CC=clang++ --showme:command", "clang++"},
		{"mpicxx", "-cxx=clang++ --showme:command", "clang++"},
	} {
		r := command(t, []string{"CC=not-this", "CXX=nor-this"}, bin(c.compiler), strings.Fields(c.options)...)
		if r != (result{out: c.out + "\n"}) {
			t.Errorf("%s %s: status %d\n%s%swant\n%s", c.compiler, c.options, r.status, r.out, r.err, c.out)
		}
	}
	for _, c := range []struct{ options, says string }{
		{"--showme:version", "mpicc: halo "}, {"--showme:help", "--showme:WHAT"}, {"-help", "-static-mpi"},
		{"-v", "mpicc: halo "}, {"--version", "gcc"}, {"-v", "gcc"},
	} {
		if r := command(t, nil, bin("mpicc"), c.options); r.status != 0 || !strings.Contains(r.out+r.err, c.says) {
			t.Errorf("mpicc %s: status %d\n%s%swant %q", c.options, r.status, r.out, r.err, c.says)
		}
	}
	for options, says := range map[string]string{
		"--showme:nothing": "it can be command, compile", "-profile=nothing a.c": "there is no libnothing",
	} {
		if r := command(t, nil, bin("mpicc"), strings.Fields(options)...); r.status != 1 || !strings.Contains(r.err, says) {
			t.Errorf("mpicc %s: status %d\n%s%s", options, r.status, r.out, r.err)
		}
	}
}

// make install refuses a prefix that compiler options and pkg-config cannot express, before it installs
// anything. mpicc works if the folder has been moved to such a place.
func TestUnfitPrefixes(t *testing.T) {
	need(t)
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a b", "a,b", "a'b", `a"b`, "a:b", "a$$b", `a\b`, "a;b", "a#b", "a[b", "a\tb"} {
		for _, to := range [][]string{{"PREFIX=" + filepath.Join(dir, name)}, {"PREFIX=/usr", "DESTDIR=" + filepath.Join(dir, name)}} {
			r := command(t, []string{"MAKEFLAGS="}, "make", append([]string{"-C", "../..", "install", "GO=false"}, to...)...)
			if r.status == 0 || !strings.Contains(r.err, "has a character") || !strings.Contains(r.err, strings.ReplaceAll(name, "$$", "$")) {
				t.Errorf("%q: status %d\n%s%s", to, r.status, r.out, r.err)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	r := command(t, []string{"MAKEFLAGS="}, "make", "-C", "../..", "install", "GO=false", "PREFIX="+filepath.Join(dir, "é-._+=@%~"))
	if r.status == 0 || !strings.Contains(r.out, "false build") { // the build begins, and fails at the first program
		t.Errorf("a prefix that fits: status %d\n%s%s", r.status, r.out, r.err)
	}

	moved := filepath.Join(dir, `it's, "well", moved`)
	if err := os.Mkdir(moved, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"include", "lib"} {
		if err := os.Symlink(filepath.Join(installed, name), filepath.Join(moved, name)); err != nil {
			t.Fatal(err)
		}
	}
	wrapper, err := os.ReadFile(bin("mpicc"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(moved, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(moved, "bin/mpicc"), wrapper, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"-static-mpi"}} {
		program := filepath.Join(dir, "ring")
		if r := command(t, nil, filepath.Join(moved, "bin/mpicc"), append(more, "-o", program, "../ring.c")...); r != (result{}) {
			t.Fatalf("moved, mpicc %q: status %d\n%s%s", more, r.status, r.out, r.err)
		}
		if r := launched(t, "shm", 2, nil, program); r != (result{out: "the token is 1 after 2 ranks\n"}) {
			t.Errorf("moved, mpicc %q: %+v", more, r)
		}
	}
}

// mpicc uses the compiler of the installation, or that of its own variables, but not CC. A compiler
// that calls mpicc again is an error.
func TestWrapperCompiler(t *testing.T) {
	need(t)
	t.Parallel()
	dir := t.TempDir()
	around := filepath.Join(dir, "oshcc")
	script(t, around, `exec "`+bin("mpicc")+`" "$@"`+"\n")
	for _, c := range []struct{ env, command string }{
		{"CC=" + around, "gcc"}, {"OMPI_CC=a", "a"}, {"OMPI_CC=a MPICH_CC=b", "b"}, {"OMPI_CC=a MPICC_CC=c MPICH_CC=b", "c"}, {"MPICC_CC=", "gcc"},
	} {
		if r := command(t, strings.Fields(c.env), bin("mpicc"), "--showme:command"); r.out != c.command+"\n" {
			t.Errorf("%s: %q, want %q", c.env, r.out, c.command)
		}
	}
	if r := command(t, []string{"MPICC_CC=gcc -DX"}, bin("mpicc"), "-show", "-c", "a.c"); !strings.HasPrefix(r.out, "gcc -DX -I") {
		t.Errorf("a compiler of two words: %+v", r)
	}
	to := filepath.Join(dir, "ring")
	if r := command(t, []string{"CC=" + around}, bin("mpicc"), "-o", to, "../ring.c"); r != (result{}) {
		t.Errorf("CC=oshcc: status %d\n%s%s", r.status, r.out, r.err)
	}
	if r := command(t, nil, around, "-o", to, "../ring.c"); r != (result{}) {
		t.Errorf("oshcc: status %d\n%s%s", r.status, r.out, r.err)
	}
	if r := command(t, nil, bin("mpicc"), "-cc="+around, "-o", to, "../ring.c"); r != (result{}) {
		t.Errorf("-cc=oshcc: status %d\n%s%s", r.status, r.out, r.err)
	}
	for env, says := range map[string]string{
		"MPICC_CC=" + around:       "oshcc (MPICC_CC) calls mpicc again: set MPICC_CC",
		"MPICH_CC=" + bin("mpicc"): "mpicc (MPICH_CC) calls mpicc again: set MPICC_CC",
	} {
		r := command(t, []string{env}, bin("mpicc"), "-c", "../ring.c", "-o", to+".o")
		if r.status != 1 || !strings.Contains(r.err, says) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: status %d\n%s%s", env, r.status, r.out, r.err)
		}
	}
}

// A program that was linked with the Forum's stubs, which have the soname of version 1 of the ABI or
// that of the previous version, runs with the library (X-ABI-01).
func TestXABI01_Stubs(t *testing.T) {
	need(t)
	t.Parallel()
	all, err := abi.Procedures()
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, p := range all {
		for ; p != nil; p = p.Large {
			fmt.Fprintf(&source, "void *%s(void) { return 0; }\n", p.Name)
		}
	}
	dir := t.TempDir()
	stubs := filepath.Join(dir, "stubs.c")
	if err := os.WriteFile(stubs, []byte(source.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	object := filepath.Join(dir, "stubs.o")
	if r := command(t, nil, "gcc", "-fPIC", "-c", "-o", object, stubs); r.status != 0 {
		t.Fatal(r.err)
	}
	for _, soname := range []string{"libmpi_abi.so.1", "libmpi_abi.so.0"} {
		program := filepath.Join(dir, soname+".ring")
		for _, args := range [][]string{
			{"-shared", "-Wl,-soname," + soname, "-o", filepath.Join(dir, "libmpi_abi.so"), object},
			{"-I" + filepath.Join(installed, "include"), "-o", program, "../ring.c", "-L" + dir, "-lmpi_abi"},
		} {
			if r := command(t, nil, "gcc", args...); r.status != 0 {
				t.Fatalf("gcc %q: status %d\n%s%s", args, r.status, r.out, r.err)
			}
		}
		r := launched(t, "shm", 2, []string{"LD_LIBRARY_PATH=" + filepath.Join(installed, "lib")}, program)
		if r != (result{out: "the token is 1 after 2 ranks\n"}) {
			t.Errorf("linked with stubs of %s: status %d\n%s%s", soname, r.status, r.out, r.err)
		}
	}
}
