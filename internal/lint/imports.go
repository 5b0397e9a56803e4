package lint

import (
	"go/ast"
	"strconv"
	"strings"
)

// The only module outside of the standard library, and the only folder that may use it.
const (
	sysModule = "golang.org/x/sys"
	sysDir    = "internal/sys"
)

// checkImports allows imports of the standard library and of the core, and imports of
// golang.org/x/sys in one package only, also for tests: so all system calls are in one
// place, with substitutes for platforms that lack them.
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
