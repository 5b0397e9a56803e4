package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/abi"
)

func testManual(t *testing.T) *manual {
	t.Helper()
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	m, err := newManual(all, "../../mpi")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var (
	formatting = regexp.MustCompile(`\\f[BIPR]`)
	manSection = regexp.MustCompile(`(?m)^\.SH (.*)\n`)
	spaces     = regexp.MustCompile(`\s+`)
)

// parts returns the sections of a page as plain text.
func parts(page []byte) map[string]string {
	text := formatting.ReplaceAllString(string(page), "")
	text = strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\e`, `\`).Replace(text)
	found := map[string]string{}
	at := manSection.FindAllStringSubmatchIndex(text, -1)
	for i, a := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		found[text[a[2]:a[3]]] = text[a[1]:end]
	}
	return found
}

// Every procedure of the table has a page, or a page that refers to one. The page has the prototype
// of mpi.h, the parameters in the order of C, and existing error classes.
func TestEveryProcedureHasAPage(t *testing.T) {
	m := testManual(t)
	pages, err := m.pages()
	if err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile("../include/mpi.h")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]string{}
	for line := range strings.Lines(string(header)) {
		if before, _, ok := strings.Cut(line, "("); ok && strings.HasSuffix(line, ");\n") {
			words := strings.Fields(before)
			declared[words[len(words)-1]] = spaces.ReplaceAllString(line, "")
		}
	}
	constants := map[string]bool{}
	for _, c := range m.constants {
		constants[c.Name] = true
	}
	count := 0
	for _, p := range m.procedures {
		for q := p; q != nil; q = q.Large {
			count++
			page := pages[q.Name+".3"]
			if to, ok := strings.CutPrefix(string(page), ".so man3/"); ok {
				page = pages[strings.TrimSpace(to)]
			}
			has := parts(page)
			synopsis := spaces.ReplaceAllString(has["SYNOPSIS"], "")
			if want := declared[q.Name]; want == "" || !strings.Contains(synopsis, want) {
				t.Errorf("%s: mpi.h has %q, the page %q", q.Name, want, has["SYNOPSIS"])
			}
			names, purpose, _ := strings.Cut(has["NAME"], " - ")
			if !slices.Contains(strings.Split(names, ", "), q.Name) || strings.Count(purpose, "\n") != 1 || len(purpose) < 10 {
				t.Errorf("%s: NAME is %q", q.Name, has["NAME"])
			}
			at := 0
			for _, x := range p.Params {
				if x.Name == "" {
					continue
				}
				i := strings.Index(has["PARAMETERS"][at:], "\n"+x.Name+" (")
				if i < 0 {
					t.Errorf("%s: %s is not among the parameters, or not at its place", q.Name, x.Name)
					continue
				}
				if m.longer[strings.TrimSuffix(p.Name, "_c")] != p { // additional parameters come last
					at += i
				}
			}
			for _, class := range cName.FindAllString(has["ERRORS"], -1) {
				if strings.Contains(class, "ERR") && !constants[class] {
					t.Errorf("%s: there is no %s", q.Name, class)
				}
			}
			if lacks := strings.Contains(has["DESCRIPTION"], "does not have this yet"); lacks == m.has(p) {
				t.Errorf("%s: that Halo has it is %t, the page says it lacks it: %t", q.Name, m.has(p), lacks)
			}
			for _, name := range []string{"DESCRIPTION", "ERRORS", "STANDARD", "SEE ALSO"} {
				if strings.TrimSpace(has[name]) == "" {
					t.Errorf("%s: no %s", q.Name, name)
				}
			}
		}
	}
	if count < 664 || count != len(pages) {
		t.Errorf("%d procedures, %d pages", count, len(pages))
	}
}

// Every function of mpi_f2c.h has a page with its prototype, or a page that refers to one (MPI-5,
// 19.3).
func TestEveryConversionHasAPage(t *testing.T) {
	const header = "../include/mpi_f2c.h"
	m := testManual(t)
	pages, err := m.f2cPages(header)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(text)) {
		before, _, ok := strings.Cut(line, "(")
		if !ok || !strings.HasSuffix(line, ");\n") || strings.Contains(before, "PMPI_") {
			continue
		}
		count++
		words := strings.Fields(before)
		name := words[len(words)-1]
		page := pages[name+".3"]
		if to, ok := strings.CutPrefix(string(page), ".so man3/"); ok {
			page = pages[strings.TrimSpace(to)]
		}
		has := parts(page)
		if !strings.Contains(spaces.ReplaceAllString(has["SYNOPSIS"], ""), spaces.ReplaceAllString(line, "")) {
			t.Errorf("%s: mpi_f2c.h has %q, the page %q", name, line, has["SYNOPSIS"])
		}
		names, purpose, _ := strings.Cut(has["NAME"], " - convert ")
		if !slices.Contains(strings.Split(names, ", "), name) || len(purpose) < 10 {
			t.Errorf("%s: NAME is %q", name, has["NAME"])
		}
		parameters := line[strings.Index(line, "(")+1 : strings.Index(line, ")")]
		for _, x := range strings.Split(parameters, ",") {
			x = strings.TrimPrefix(x[strings.LastIndexByte(x, ' ')+1:], "*")
			if !strings.Contains(has["PARAMETERS"], "\n"+x+" ") && !strings.Contains(has["PARAMETERS"], "\n"+x+"\n") {
				t.Errorf("%s: %s is not among the parameters %q", name, x, has["PARAMETERS"])
			}
		}
		for _, part := range []string{"DESCRIPTION", "ERRORS", "STANDARD", "SEE ALSO"} {
			if strings.TrimSpace(has[part]) == "" {
				t.Errorf("%s: no %s", name, part)
			}
		}
		for _, other := range cName.FindAllString(has["SEE ALSO"], -1) {
			if _, ok := m.purposes[other]; !ok && pages[other+".3"] == nil {
				t.Errorf("%s: there is no page of %s", name, other)
			}
		}
	}
	if count != 28 || len(pages) != count {
		t.Errorf("%d functions, %d pages", count, len(pages))
	}
}

// Each row of the manual's tables belongs to a procedure, and all names in the tables exist.
func TestManualHasNoMore(t *testing.T) {
	m := testManual(t)
	known := map[string]bool{"MPI_ERR": true}
	used := make([]bool, len(m.meanings))
	for _, p := range m.procedures {
		known[p.Name] = true
		if p.Large != nil {
			known[p.Large.Name] = true
		}
		for _, x := range p.Params {
			if i := slices.IndexFunc(m.meanings, func(r abi.Meaning) bool { return r.Of(p.Name, x) }); i >= 0 {
				used[i] = true
			}
		}
	}
	for _, c := range m.constants {
		known[c.Name] = true
	}
	for i, r := range m.meanings {
		if !used[i] {
			t.Errorf("parameters.csv: %v holds for nothing", r)
		}
		if r.Direction != "" && !slices.Contains([]string{"IN", "OUT", "INOUT"}, r.Direction) {
			t.Errorf("parameters.csv: %v: direction %q", r, r.Direction)
		}
	}
	check := func(of, text string) {
		for _, name := range cName.FindAllString(text, -1) {
			if strings.HasSuffix(name, "_") { // a prefix, as in "MPI_COMBINER_ and so on"
				if !slices.ContainsFunc(m.constants, func(c abi.Constant) bool { return strings.HasPrefix(c.Name, name) }) {
					t.Errorf("%s: no name begins with %s", of, name)
				}
			} else if !known[name] && name != "MPI_Count" {
				t.Errorf("%s: there is no %s", of, name)
			}
		}
	}
	for name, p := range m.purposes {
		if !known[name] {
			t.Errorf("purposes.csv: there is no %s", name)
		}
		if p.Remark != "" && !strings.HasSuffix(p.Remark, ".") {
			t.Errorf("purposes.csv: %s: %q is no sentence", name, p.Remark)
		}
		check(name, p.Text+" "+p.Remark)
	}
	for _, r := range m.meanings {
		check(r.Parameter, r.Text)
	}
}

// groff and mandoc format the pages without warnings.
func TestPagesAreClean(t *testing.T) {
	m := testManual(t)
	pages, err := m.pages()
	if err != nil {
		t.Fatal(err)
	}
	f2c, err := m.f2cPages("../include/mpi_f2c.h")
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(pages, f2c)
	pages["program.1"] = programPage("program", "program, other", "does it", "It does.\n\nUsage:\n  program [-x]\n\n.It's over\\.\nSee:\n'there'\n")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "man3"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := write(filepath.Join(dir, "man3"), pages); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range pages {
		names = append(names, filepath.Join("man3", name))
	}
	slices.Sort(names)
	tried := false
	for _, tool := range [][]string{{"groff", "-man", "-ww", "-Tutf8", "-z"}, {"mandoc", "-Tlint", "-Wwarning"}} {
		if _, err := exec.LookPath(tool[0]); err != nil {
			continue
		}
		tried = true
		cmd := exec.Command(tool[0], append(tool[1:], names...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%.3000s", tool[0], err, out)
		}
	}
	if !tried {
		t.Skip("there is neither groff nor mandoc here")
	}
}

// The page of MPI_Comm_spawn has the keys of docs/dynamic.md, in the same order.
func TestKeysOfSpawnAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/dynamic.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := testManual(t).pages()
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(doc), -1)
	if len(table) < 10 {
		t.Fatalf("%d keys in docs/dynamic.md", len(table))
	}
	for _, page := range []string{"MPI_Comm_spawn.3", "MPI_Comm_spawn_multiple.3"} {
		text := parts(pages[page])["INFO KEYS"]
		for _, row := range table {
			_, after, found := strings.Cut(text, "\n"+row[1]+"\n")
			if !found {
				t.Errorf("%s has no key %s, or not at its place", page, row[1])
				continue
			}
			text = "\n" + after
		}
	}
}
