package vet

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// quiet are functions that need plain data, and tell without an error, or later, that there is none.
var quiet = []string{"Count", "CreateOp", "MemoryOf"}

// The tables of mpi/plain_rule_test.go hold here, too: the rule is that of the run-time check, and
// the functions that have the fact are those that make the check.
func TestRunTimeCheck(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: "..", Tests: true}, "./mpi")
	if err != nil {
		t.Fatal(err)
	}
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool { return p.Name != "mpi_test" })
	if len(pkgs) != 1 || packages.PrintErrors(pkgs) > 0 {
		t.Fatalf("%d packages of tests of mpi", len(pkgs))
	}
	tests := pkgs[0]
	graph, err := checker.Analyze([]*analysis.Analyzer{PlainData}, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}

	rules := table(t, tests, "plainRule")
	for _, r := range rules {
		row := r.(*ast.CompositeLit)
		want := constant.StringVal(tests.TypesInfo.Types[row.Elts[0]].Value)
		arg := tests.TypesInfo.Instances[row.Elts[1].(*ast.IndexExpr).X.(*ast.Ident)].TypeArgs.At(0)
		switch f := examine(arg, types.TypeString(arg, (*types.Package).Name)); {
		case want == "" && f.kind != "":
			t.Errorf("%s is plain data: %s", arg, f)
		case want != "" && (f.kind == "" || !strings.Contains(f.String(), want+": memory of this process")):
			t.Errorf("%s: %v, want %q", arg, f, want)
		}
	}
	if len(rules) < 30 {
		t.Errorf("%d rules", len(rules))
	}

	var checking []string
	for act := range graph.All() {
		if act.Package.Name != "mpi" || act.Package.Types != tests.Imports[mpiPath].Types {
			continue
		}
		for _, f := range act.AllObjectFacts() {
			if f.Object.Pkg().Path() == mpiPath && f.Object.Exported() && ofAny(f.Object) {
				checking = append(checking, f.Object.Name())
			}
		}
	}
	var refusing []string
	for _, r := range table(t, tests, "plainOnly") {
		name, err := strconv.Unquote(r.(*ast.KeyValueExpr).Key.(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		refusing = append(refusing, name)
	}
	for _, name := range checking {
		if !slices.Contains(refusing, name) && !slices.Contains(quiet, name) {
			t.Errorf("mpi.%s needs plain data, and plainOnly in mpi/plain_rule_test.go does not have it", name)
		}
	}
	for _, name := range append(refusing, quiet...) {
		if !slices.Contains(checking, name) {
			t.Errorf("mpi.%s refuses what is no plain data, and the analyzer does not know it", name)
		}
	}
}

// table is the rows of the composite literal of a variable.
func table(t *testing.T, p *packages.Package, name string) []ast.Expr {
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && v.Names[0].Name == name {
						return v.Values[0].(*ast.CompositeLit).Elts
					}
				}
			}
		}
	}
	t.Fatalf("no variable %s", name)
	return nil
}

// ofAny reports whether a type parameter of a function or a type may be any type.
func ofAny(obj types.Object) bool {
	var params *types.TypeParamList
	switch obj := obj.(type) {
	case *types.Func:
		params = obj.Signature().TypeParams()
	case *types.TypeName:
		params = obj.Type().(*types.Named).TypeParams()
	}
	for p := range params.TypeParams() {
		if i, ok := p.Constraint().Underlying().(*types.Interface); ok && i.Empty() {
			return true
		}
	}
	return false
}

// What halovet reports about programs, as a tool of go vet and by itself, is what their comments
// expect: want and regular expressions in back quotes. It reports nothing about the examples.
func TestHalovet(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "halovet")
	run := func(dir string, words ...string) (string, error) {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(".", "go", "build", "-o", tool, "./halovet"); err != nil {
		t.Fatal(out, err)
	}
	programs := filepath.Join("testdata", "src")
	expected := expectations(t, programs)
	for _, words := range [][]string{{"go", "vet", "-vettool=" + tool, "./..."}, {tool, "./..."}} {
		out, err := run(programs, words...)
		if err == nil {
			t.Errorf("%s: no error", words)
		}
		found := map[string]string{}
		for _, m := range diagnostic.FindAllStringSubmatch(out, -1) {
			found[filepath.Base(m[1])+":"+m[2]] = m[3]
		}
		for at, want := range expected {
			if !want.MatchString(found[at]) {
				t.Errorf("%s: %s: %q, want %v", words, at, found[at], want)
			}
		}
		for at, text := range found {
			if expected[at] == nil {
				t.Errorf("%s: %s: %s", words, at, text)
			}
		}
		if t.Failed() {
			t.Logf("%v\n%s", err, out)
		}
	}
	if out, err := run("..", "go", "vet", "-vettool="+tool, "./examples/..."); err != nil {
		t.Errorf("examples: %v\n%s", err, out)
	}
}

var (
	diagnostic  = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: (.*)$`)
	expectation = regexp.MustCompile("// want `(.*)`$")
)

// expectations are the comments in the files of a module, by file and line.
func expectations(t *testing.T, dir string) map[string]*regexp.Regexp {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.go"))
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	all := map[string]*regexp.Regexp{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if m := expectation.FindStringSubmatch(line); m != nil {
				all[fmt.Sprintf("%s:%d", filepath.Base(file), i+1)] = regexp.MustCompile(m[1])
			}
		}
	}
	return all
}
