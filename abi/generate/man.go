package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// manual makes the pages of section 3: one page for each procedure of the table and its form with
// large counts, and a page for the name of the large form that refers to it.
type manual struct {
	*tables
	purposes map[string]abi.Purpose
	meanings []abi.Meaning
	keys     []abi.Key
	golang   map[string][]string       // names in package mpi of the Go equivalents of a procedure
	together map[string][]string       // procedures by their section and each section that contains it
	longer   map[string]*abi.Procedure // large forms with more parameters, by the small form's name
}

// newManual reads the tables of the manual, and the names in Go from package mpi's folder.
func newManual(t *tables, mpi string) (*manual, error) {
	m := &manual{tables: t, together: map[string][]string{}, longer: map[string]*abi.Procedure{}}
	var err error
	m.purposes, err = abi.Purposes()
	if err != nil {
		return nil, err
	}
	m.meanings, err = abi.Meanings()
	if err != nil {
		return nil, err
	}
	m.keys, err = abi.Keys()
	if err != nil {
		return nil, err
	}
	m.golang, err = goNames(mpi)
	if err != nil {
		return nil, err
	}
	for _, p := range t.procedures {
		purpose, ok := m.purposes[p.Name]
		if base, large := strings.CutSuffix(p.Name, "_c"); large && !ok {
			m.longer[base] = p
			continue
		}
		if !ok {
			return nil, fmt.Errorf("purposes.csv: there is no %s", p.Name)
		}
		for at := purpose.Section; ; at = at[:strings.LastIndexByte(at, '.')] {
			m.together[at] = append(m.together[at], p.Name)
			if !strings.Contains(at, ".") {
				break
			}
		}
	}
	return m, nil
}

// pages returns the pages by their file names.
func (m *manual) pages() (map[string][]byte, error) {
	pages := map[string][]byte{}
	for _, p := range m.procedures {
		if m.longer[strings.TrimSuffix(p.Name, "_c")] == p {
			continue
		}
		text, err := m.page(p)
		if err != nil {
			return nil, err
		}
		pages[p.Name+".3"] = text
		if large := m.large(p); large != nil {
			pages[large.Name+".3"] = []byte(".so man3/" + p.Name + ".3\n")
		}
	}
	return pages, nil
}

// large returns the form with large counts of a procedure, nil if there is none.
func (m *manual) large(p *abi.Procedure) *abi.Procedure {
	if p.Large != nil {
		return p.Large
	}
	return m.longer[p.Name]
}

// page returns the page of one procedure.
func (m *manual) page(p *abi.Procedure) ([]byte, error) {
	var b roff
	purpose := m.purposes[p.Name]
	b.title(p.Name, 3)
	b.section("NAME")
	names := p.Name
	forms := []*abi.Procedure{p}
	if large := m.large(p); large != nil {
		names += ", " + large.Name
		forms = append(forms, large)
	}
	b.line(names + " - " + purpose.Text)

	b.section("SYNOPSIS")
	b.raw(".nf\n")
	b.bold("#include <mpi.h>")
	for _, q := range forms {
		b.raw(".PP\n")
		b.bold(synopsis(q))
	}
	b.raw(".fi\n")

	if err := m.parameters(&b, p); err != nil {
		return nil, err
	}
	m.infoKeys(&b, p)
	b.section("DESCRIPTION")
	if purpose.Remark != "" {
		b.line(purpose.Remark)
		b.raw(".PP\n")
	}
	b.line(scopes[purpose.Scope] + " " + m.twins(p))
	if !m.has(p) {
		b.paragraph("The engine of Halo does not have this yet: the call only raises MPI_ERR_UNSUPPORTED_OPERATION.")
	}

	b.section("ERRORS")
	b.line(m.errors(p))
	if names := m.golang[p.Name]; len(names) > 0 {
		b.section("GO")
		b.line("In package mpi: " + strings.Join(names, ", ") + ".")
	}
	b.section("STANDARD")
	b.line(where(purpose.Section))
	b.section("SEE ALSO")
	b.line(m.seeAlso(p, purpose.Section))
	return b.text(), nil
}

// synopsis returns the prototype, split into several lines if it is long.
func synopsis(p *abi.Procedure) string {
	const width = 78
	all := prototype(p, "MPI_") + ";"
	if len(all) <= width {
		return all
	}
	lines := []string{p.Returns + " " + p.Name + "("}
	for i, x := range p.Params {
		end := ", "
		if i == len(p.Params)-1 {
			end = ");"
		}
		last := &lines[len(lines)-1]
		if len(*last)+len(declaration(x))+len(end) > width {
			*last = strings.TrimSuffix(*last, " ")
			lines = append(lines, "    ")
			last = &lines[len(lines)-1]
		}
		*last += declaration(x) + end
	}
	return strings.Join(lines, "\n")
}

// parameters writes the directions and meanings of the parameters.
func (m *manual) parameters(b *roff, p *abi.Procedure) error {
	if len(p.Params) == 0 {
		return nil
	}
	b.section("PARAMETERS")
	all := slices.Clone(p.Params)
	if longer := m.longer[p.Name]; longer != nil {
		for _, x := range longer.Params {
			if !slices.ContainsFunc(all, func(y abi.Param) bool { return y.Name == x.Name }) {
				all = append(all, x)
			}
		}
	}
	for _, x := range all {
		if x.Name == "" {
			b.item("...", "", "what the tool understands")
			continue
		}
		i := slices.IndexFunc(m.meanings, func(r abi.Meaning) bool { return r.Of(p.Name, x) })
		if i < 0 {
			return fmt.Errorf("parameters.csv: there is no text for %s of %s", x.Name, p.Name)
		}
		b.item(x.Name, m.meanings[i].Flow(x), m.meanings[i].Text)
	}
	return nil
}

// infoKeys writes the keys of an info object that a procedure understands.
func (m *manual) infoKeys(b *roff, p *abi.Procedure) {
	first := true
	for _, k := range m.keys {
		if !k.Of(p.Name) {
			continue
		}
		if first {
			b.section("INFO KEYS")
			first = false
		}
		b.item(k.Name, "", k.Text)
	}
	if !first {
		b.paragraph("Other keys are ignored.")
	}
}

// scopes are sentences about the other processes that take part in a call.
var scopes = map[abi.Scope]string{
	abi.Local:       "The call is local: it does not depend on calls of other processes.",
	abi.Nonlocal:    "The call is not local: it may wait for calls of other processes.",
	abi.Collective:  "The call is collective: all processes of the object concerned make it, and it may wait for them.",
	abi.ICollective: "The call is collective: all processes of the object concerned make it, in the same order, but it waits for none of them; the request does.",
	abi.PCollective: "The call is collective: all processes of the communicator make such requests in the same order; they may start them in any.",
}

// twins returns a sentence about the other names of a procedure.
func (m *manual) twins(p *abi.Procedure) string {
	text := "P" + p.Name + " is the same procedure for tools that replace this one"
	switch large := m.large(p); {
	case p.Large != nil:
		text += ", P" + large.Name + " that of " + large.Name + ", which differs in the types of counts and displacements alone"
	case large != nil:
		text += ", P" + large.Name + " that of " + large.Name + ", which has the large counts apart"
	}
	return text + "."
}

// has reports whether Halo implements a procedure.
func (m *manual) has(p *abi.Procedure) bool { return p.Call != "" || inC[p.Name] != "" }

// where returns a sentence about the place of a procedure in the standard.
func where(section string) string {
	switch {
	case section == abi.ExtensionPart:
		return "It is an extension of Halo: see docs/extensions.md. If HALO_MPI_NAMES is defined before mpi.h is included, it also has a name with MPI_ instead of MPIX_."
	case strings.Contains(section, "."):
		return "MPI 5.0, section " + section + "."
	}
	return "MPI 5.0, chapter " + section + "."
}

// seeAlso lists some procedures of the same section, neighbours in the table first, and then of the
// enclosing sections and the chapter.
func (m *manual) seeAlso(p *abi.Procedure, section string) string {
	const most = 10
	var text []string
	for at := section; len(text) < most; {
		for _, name := range around(m.together[at], p.Name, most) {
			if n := name + "(3)"; name != p.Name && len(text) < most && !slices.Contains(text, n) {
				text = append(text, n)
			}
		}
		dot := strings.LastIndexByte(at, '.')
		if dot < 0 {
			break
		}
		at = at[:dot]
	}
	return strings.Join(append(text, "mpicc(1)", "mpiexec(1)"), ", ")
}

// around returns up to most+1 neighbouring names of a list, with the given one in the middle if
// possible.
func around(list []string, name string, most int) []string {
	from := max(0, min(slices.Index(list, name)-most/2, len(list)-most-1))
	return list[from:min(len(list), from+most+1)]
}

// writeManual writes all pages below dir. If bin is the folder of the programs, it makes their pages
// from the help texts that they print.
func (t *tables) writeManual(dir, mpi, bin string) error {
	m, err := newManual(t, mpi)
	if err != nil {
		return err
	}
	all, err := m.pages()
	if err != nil {
		return err
	}
	f2c, err := m.f2cPages(filepath.Join(mpi, "../abi/include/mpi_f2c.h"))
	if err != nil {
		return err
	}
	maps.Copy(all, f2c)
	for part, pages := range map[string]func() (map[string][]byte, error){
		"man3": func() (map[string][]byte, error) { return all, nil },
		"man1": func() (map[string][]byte, error) { return programPages(bin) },
	} {
		files, err := pages()
		if err != nil {
			return err
		}
		to := filepath.Join(dir, part)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		if err := write(to, files); err != nil {
			return err
		}
	}
	return nil
}
