package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// programs are the programs that make install puts into bin: their purposes, the arguments that
// print their help, and their other names.
var programs = []struct {
	name, purpose string
	help          []string
	also          []string
}{
	{"halo", "start, measure and look at MPI programs", []string{"-help"}, nil},
	{"mpiexec", "start a program as the ranks of an MPI job", []string{"-help"}, []string{"mpirun"}},
	{"mpicc", "compile and link C and C++ programs with Halo", []string{"-help"}, []string{"mpicxx", "mpic++", "mpiCC"}},
	{"mpifort", "compile and link Fortran programs with Halo", []string{"-help"}, []string{"mpif77", "mpif90"}},
}

// programPages returns the pages of section 1, from the help texts that the programs in folder bin
// print.
func programPages(bin string) (map[string][]byte, error) {
	pages := map[string][]byte{}
	if bin == "" {
		return pages, nil
	}
	for _, p := range programs {
		text, err := exec.Command(filepath.Join(bin, p.name), p.help...).Output()
		if errors.Is(err, syscall.ENOEXEC) {
			fmt.Fprintf(os.Stderr, "generate: no page of %s: it is for another machine\n", p.name)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", p.name, strings.Join(p.help, " "), err)
		}
		pages[p.name+".1"] = programPage(p.name, strings.Join(append([]string{p.name}, p.also...), ", "), p.purpose, string(text))
		for _, a := range p.also {
			pages[a+".1"] = []byte(".so man1/" + p.name + ".1\n")
		}
	}
	return pages, nil
}

// programPage makes a page from a help text: a part with the heading "Something:" becomes a section,
// indented lines are copied verbatim, and other lines become paragraphs.
func programPage(name, names, purpose, help string) []byte {
	var b roff
	b.title(name, 1)
	b.section("NAME")
	b.line(names + " - " + purpose)
	b.section("DESCRIPTION")
	for part := range strings.SplitSeq(strings.TrimSpace(help), "\n\n") {
		lines := strings.Split(part, "\n")
		if head, ok := strings.CutSuffix(lines[0], ":"); ok && len(lines) > 1 && !strings.HasPrefix(head, " ") {
			b.section(strings.ToUpper(head))
			lines = lines[1:]
		} else {
			b.raw(".PP\n")
		}
		for len(lines) > 0 {
			n := 1
			indented := strings.HasPrefix(lines[0], " ")
			for n < len(lines) && strings.HasPrefix(lines[n], " ") == indented {
				n++
			}
			if text := strings.Join(lines[:n], "\n"); indented {
				b.verbatim(text)
			} else {
				b.line(strings.ReplaceAll(text, "\n", " "))
			}
			lines = lines[n:]
		}
	}
	b.section("SEE ALSO")
	b.line("halo(1), mpicc(1), mpiexec(1), MPI_Init(3)")
	return b.text()
}
