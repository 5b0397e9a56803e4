package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// f2cPrototype matches a function of mpi_f2c.h: its prototype, its name, the object that it
// converts, and the languages from which and to which it converts.
var f2cPrototype = regexp.MustCompile(`(?m)^\w+ ((MPI_\w+)_(c|f|f08)2(c|f|f08))\(.*\);$`)

// betweenStatuses describes the pairs of forms of a status, by the first function of each pair.
var betweenStatuses = map[string]string{
	"MPI_Status_c2f":   "between C and an array of INTEGER in Fortran",
	"MPI_Status_c2f08": "between C and the module mpi_f08 of Fortran",
	"MPI_Status_f2f08": "between an array of INTEGER and the module mpi_f08 of Fortran",
}

// f2cItems describes the parameters of functions on statuses.
var f2cItems = map[string]string{
	"c_status":   "the status in C",
	"f_status":   "the status in Fortran: MPI_F_STATUS_SIZE integers",
	"f08_status": "the status as TYPE(MPI_Status) of the module mpi_f08",
}

// f2cPages returns the pages of the functions of mpi_f2c.h. The table lacks these functions, since
// the standard ABI does. Each pair of functions that are the reverse of each other has one page, and
// a page for the second name that refers to it.
func (m *manual) f2cPages(header string) (map[string][]byte, error) {
	text, err := os.ReadFile(header)
	if err != nil {
		return nil, err
	}
	pages, prototypes := map[string][]byte{}, map[string]string{}
	all := f2cPrototype.FindAllStringSubmatch(string(text), -1)
	for _, f := range all {
		prototypes[f[1]] = f[0]
	}
	for _, f := range all {
		name, back := f[1], f[2]+"_"+f[4]+"2"+f[3]
		switch {
		case prototypes[back] == "":
			return nil, fmt.Errorf("%s: there is no %s for %s", header, back, name)
		case pages[back+".3"] != nil:
			pages[name+".3"] = []byte(".so man3/" + back + ".3\n")
		default:
			pages[name+".3"], err = m.f2cPage(f[2], name, back, prototypes)
			if err != nil {
				return nil, err
			}
		}
	}
	return pages, nil
}

// f2cPage returns the page of a function of mpi_f2c.h and its reverse, which convert an object.
func (m *manual) f2cPage(object, name, back string, prototypes map[string]string) ([]byte, error) {
	var b roff
	purpose, remark, also := "", "", []string{}
	if object == "MPI_Status" {
		purpose = "convert a status " + betweenStatuses[name]
		for other := range betweenStatuses {
			if other != name {
				also = append(also, other)
			}
		}
		slices.Sort(also)
		remark = "All fields of a status are converted: source, tag, error, and those that only calls can read."
	} else {
		noun, ok := strings.CutSuffix(strings.TrimPrefix(m.purposes[object+"_toint"].Text, "convert "), " to the integer that Fortran has for it")
		if !ok {
			return nil, fmt.Errorf("purposes.csv: %s_toint does not say what it converts", object)
		}
		purpose = "convert " + noun + " between C and Fortran"
		remark = m.purposes[object+"_fromint"].Remark
		also = append(also, object+"_toint", object+"_fromint")
	}
	b.title(name, 3)
	b.section("NAME")
	b.line(name + ", " + back + " - " + purpose)
	b.section("SYNOPSIS")
	b.raw(".nf\n")
	b.bold("#include <mpi.h>")
	for _, f := range []string{name, back} {
		b.raw(".PP\n")
		b.bold(prototypes[f])
	}
	b.raw(".fi\n")
	b.section("PARAMETERS")
	if object == "MPI_Status" {
		for _, item := range []string{"c_status", "f_status", "f08_status"} {
			if strings.Contains(prototypes[name], "*"+item) {
				b.item(item, "", f2cItems[item])
			}
		}
	} else {
		parameter := strings.TrimSuffix(prototypes[name], ");")
		b.item(parameter[strings.LastIndexByte(parameter, ' ')+1:], "IN", "the handle in C, or the integer that Fortran has for it")
	}
	b.section("DESCRIPTION")
	b.line(remark)
	b.paragraph("The calls are local: they are over whatever other processes do. P" + name + " and P" + back + " are the same procedures for tools that replace these.")
	b.paragraph("mpi.h declares them by including mpi_f2c.h, unless HALO_NO_F2C is defined before it: the standard's binary interface leaves them out. MPI_Fint is an int. They are in the library mpi_f2c, which mpicc links, and which needs no Fortran.")
	b.section("ERRORS")
	if object == "MPI_Status" {
		b.line("MPI_ERR_ARG if a status is MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE, or what stands for these in Fortran.")
	} else {
		b.line("None.")
	}
	b.section("STANDARD")
	b.line(where("19.3"))
	b.section("SEE ALSO")
	b.line(strings.Join(also, "(3), ") + "(3), mpicc(1)")
	return b.text(), nil
}
