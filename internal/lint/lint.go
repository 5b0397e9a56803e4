package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the import path of the repository's core module.
const Module = "github.com/halo-mpi/halo"

// Finding is one violation.
type Finding struct {
	File string // relative to the root, with slashes
	Line int
	Rule string // the Rule's Name
	Text string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s (%s)", f.File, f.Line, f.Text, f.Rule)
}

// Rule is one check: Check is called for each file separately, or CheckAll once for all files.
type Rule struct {
	Name     string
	Check    func(f *File, report func(line int, format string, args ...any))
	CheckAll func(files []*File, report func(f *File, line int, format string, args ...any))
}

// Rules returns every rule.
func Rules() []Rule {
	return []Rule{
		{Name: "layers", Check: checkLayers},
		{Name: "imports", Check: checkImports},
		{Name: "state", Check: checkState},
		{Name: "docs", Check: checkDocs},
		{Name: "length", Check: checkLength},
		{Name: "names", Check: checkNames},
		{Name: "unfinished", Check: checkUnfinished},
		{Name: "citations", Check: checkCitations},
		{Name: "heads", Check: checkHeads},
		{Name: "words", Check: checkWords},
		{Name: "overviews", CheckAll: checkOverviews},
	}
}

// File is one file of the core module.
type File struct {
	Path  string // relative to the root, with slashes
	Text  []byte
	Go    *ast.File // nil unless the name ends in .go
	fset  *token.FileSet
	Error error // why Go does not parse, if it does not
}

// Dir is the folder of the file, "" for the root.
func (f *File) Dir() string {
	if d := path.Dir(f.Path); d != "." {
		return d
	}
	return ""
}

// Test reports whether the file is part of a test.
func (f *File) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Line is the line of a position in the file.
func (f *File) Line(p token.Pos) int { return f.fset.Position(p).Line }

// Load reads the source files of the module rooted at root: not those of
// modules nested in it, of test data, or of folders the go command ignores.
func Load(root string) ([]*File, error) {
	var files []*File
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && skipDir(name, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !isSource(d.Name()) {
			return nil
		}
		f, err := parse(root, filepath.ToSlash(rel))
		files = append(files, f)
		return err
	})
	return files, err
}

func skipDir(dir, base string) bool {
	if base == "testdata" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func isSource(base string) bool {
	return slices.Contains([]string{".go", ".s", ".c", ".h", ".sh", ".f", ".f90", ".F90"}, path.Ext(base)) || base == "Makefile"
}

func parse(root, rel string) (*File, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		return nil, err
	}
	f := &File{Path: rel, Text: text, fset: token.NewFileSet()}
	if path.Ext(rel) == ".go" {
		f.Go, f.Error = parser.ParseFile(f.fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	}
	return f, nil
}

// Check applies every rule to the files and returns what it finds: what rules for one file find, in the order of the files,
// and then the rest.
func Check(files []*File, rules []Rule) []Finding {
	var found []Finding
	for _, f := range files {
		if f.Error != nil {
			found = append(found, Finding{f.Path, 1, "parse", f.Error.Error()})
			continue
		}
		for _, r := range rules {
			if r.Check == nil {
				continue
			}
			r.Check(f, func(line int, format string, args ...any) {
				found = append(found, Finding{f.Path, line, r.Name, fmt.Sprintf(format, args...)})
			})
		}
	}
	for _, r := range rules {
		if r.CheckAll == nil {
			continue
		}
		r.CheckAll(files, func(f *File, line int, format string, args ...any) {
			found = append(found, Finding{f.Path, line, r.Name, fmt.Sprintf(format, args...)})
		})
	}
	return found
}

// generated reports whether a program wrote the file.
func (f *File) generated() bool {
	if f.Go != nil {
		return ast.IsGenerated(f.Go)
	}
	head := f.Text[:min(len(f.Text), 512)]
	return bytes.Contains(head, []byte("Code generated ")) && bytes.Contains(head, []byte("DO NOT EDIT."))
}
