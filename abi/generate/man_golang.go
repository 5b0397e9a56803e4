package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// cited matches the last line of a doc comment of package mpi, which names the procedures of C;
// internal/lint requires it in every doc comment.
var cited = regexp.MustCompile(`(?m)^C: ((?:, | and |, and |MPIX?_\w+)+), (?:sections? |an )`)

var cName = regexp.MustCompile(`MPIX?_\w+`)

// goNames returns the names of the functions and methods of package mpi, whose files are in folder,
// by the procedures of C that their comments cite.
func goNames(folder string) (map[string][]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	names := map[string][]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			m := cited.FindStringSubmatch(fn.Doc.Text())
			if m == nil {
				continue
			}
			for _, c := range cName.FindAllString(m[1], -1) {
				if n := goName(fn); !slices.Contains(names[c], n) {
					names[c] = append(names[c], n)
				}
			}
		}
	}
	for _, list := range names {
		slices.Sort(list)
	}
	return names, nil
}

// goName returns the name of a function, preceded by the type if it is a method.
func goName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}
