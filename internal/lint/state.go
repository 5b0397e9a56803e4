package lint

import (
	"go/ast"
	"go/token"
	"strings"
)

// An exemption is a package-level variable that checkState allows.
type exemption struct {
	dir, name string // name: "" means all variables of the package
	why       string
}

// exemptions returns the exemptions, which are few on purpose. The state of a process
// belongs into a value that proc.Proc holds, a cached probe into the struct that uses it.
func exemptions() []exemption {
	return []exemption{
		{"internal/offheap", "shared", "allocates memory for the OS process, as the Go heap does"},
		{"internal/planted", "", "planted faults are set before anything else runs, in builds for that only"},
		{"internal/unexported", "api", "set while package mpi is initialised, and then only read"},
		{"internal/sys", "swept", "tells what the machine's caches may hold, which changes how soon a copy ends and not what it does"},
		{"internal/sys", "wires", "tells the race detector of order that sockets make, in builds for that only"},
	}
}

// checkState forbids variables at package level in internal/ and in cmd/halo/internal/, because n ranks
// can be goroutines of one OS process and must not share state. Allowed are error sentinels
// (errors.New, fmt.Errorf), compile-time assertions (var _ I = T{}), and the
// exemptions. Tests may have flags and tables.
func checkState(f *File, report func(int, string, ...any)) {
	if f.Go == nil || f.Test() || !matches("internal/...", f.Dir()) && !matches("cmd/halo/internal/...", f.Dir()) {
		return
	}
	for _, decl := range f.Go.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, spec := range gen.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if name.Name == "_" || sentinel(v, i) || exempt(f.Dir(), name.Name) {
					continue
				}
				report(f.Line(name.Pos()), "package-level variable %s: use a constant, a function that returns the value, or a field", name.Name)
			}
		}
	}
}

// sentinel reports whether the i-th variable of the declaration is initialised with a
// new error.
func sentinel(v *ast.ValueSpec, i int) bool {
	if i >= len(v.Values) {
		return false
	}
	call, ok := v.Values[i].(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	made := pkg.Name + "." + sel.Sel.Name
	return (made == "errors.New" || made == "fmt.Errorf") && namedAsError(v.Names[i].Name)
}

func namedAsError(name string) bool {
	return strings.HasPrefix(name, "Err") || strings.HasPrefix(name, "err")
}

func exempt(dir, name string) bool {
	for _, e := range exemptions() {
		if e.dir == dir && (e.name == name || e.name == "") {
			return true
		}
	}
	return false
}
