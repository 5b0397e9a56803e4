package lint

import (
	"go/ast"
	"strconv"
	"strings"
)

// The one module outside the standard library, and the one folder that may use it.
const (
	sysModule = "golang.org/x/sys"
	sysDir    = "internal/sys"
)

// checkImports keeps the core on the standard library, golang.org/x/sys and
// itself, and x/sys behind one package, tests included: whoever wants a system
// call finds them all in one place, with the platforms that lack it.
func checkImports(f *File, report func(int, string, ...any)) {
	if f.Go == nil {
		return
	}
	for _, imp := range f.Go.Imports {
		p := importPath(imp)
		line := f.Line(imp.Pos())
		switch {
		case within(p, sysModule):
			if f.Dir() != sysDir {
				report(line, "imports %s: only %s may", p, sysDir)
			}
		case within(p, Module):
		case strings.Contains(strings.SplitN(p, "/", 2)[0], "."):
			report(line, "imports %s: the core uses the standard library and %s only", p, sysModule)
		}
	}
}

func importPath(imp *ast.ImportSpec) string {
	p, err := strconv.Unquote(imp.Path.Value)
	if err != nil {
		return imp.Path.Value
	}
	return p
}

// within reports whether import path p is module or a package in it.
func within(p, module string) bool {
	return p == module || strings.HasPrefix(p, module+"/")
}
