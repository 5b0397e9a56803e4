package main

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
)

// assembled is the name of a function in assembly, linked that of a function which another package has.
var (
	assembled = regexp.MustCompile(`(?m)^TEXT\s+·(\w+)`)
	linked    = regexp.MustCompile(`^//go:linkname (\w+)`)
)

// bodies reports functions without a body that no assembly of the platform has. Only the linker finds these
// otherwise, and to link a program compiles all that it imports.
func (u *unit) bodies() {
	have := map[string]bool{}
	for _, name := range u.OtherFiles {
		if strings.HasSuffix(name, ".s") {
			text, err := os.ReadFile(name)
			if err != nil {
				u.fail(err.Error())
			}
			for _, m := range assembled.FindAllSubmatch(text, -1) {
				have[string(m[1])] = true
			}
		}
	}
	for _, f := range u.syntax {
		at := u.platform.fset.Position(f.Pos())
		if !slices.Contains(u.GoFiles, at.Filename) {
			continue // cgo has made it
		}
		for _, c := range f.Comments {
			for _, line := range c.List {
				if m := linked.FindStringSubmatch(line.Text); m != nil {
					have[m[1]] = true
				}
			}
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body == nil && !have[fn.Name.Name] {
				u.platform.report.add(fmt.Sprintf("%s: %s has neither a body nor assembly for this processor", u.platform.fset.Position(fn.Pos()), fn.Name.Name))
			}
		}
	}
}
