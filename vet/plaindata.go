package vet

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// PlainData reports instances of functions and types of package mpi, and of functions that do
// nothing without them, whose elements are no plain data.
var PlainData = &analysis.Analyzer{
	Name: "mpiplaindata",
	Doc: `report elements of MPI calls that are no plain data

Slices that messages, collectives and windows move have elements that are plain data: booleans,
numbers, and arrays and structs of them. Elements that refer to memory (by a pointer, string, slice,
map, channel, function, interface or uintptr, at any depth) mean nothing to another process: each
such call returns mpi.ErrType.`,
	URL:       "https://pkg.go.dev/github.com/halo-mpi/halo/vet",
	Run:       runPlainData,
	FactTypes: []analysis.Fact{new(needs)},
}

func runPlainData(pass *analysis.Pass) (any, error) {
	if pass.Pkg.Path() != mpiPath && !imports(pass.Pkg, map[*types.Package]bool{}) {
		return nil, nil
	}
	s := searchNeeds(pass)
	ids := slices.SortedFunc(maps.Keys(pass.TypesInfo.Instances), func(a, b *ast.Ident) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, id := range ids {
		n, name := s.needsOf(id)
		if n == nil {
			continue
		}
		args := pass.TypesInfo.Instances[id].TypeArgs
		for _, i := range n.Params {
			if f := examine(args.At(i), types.TypeString(args.At(i), (*types.Package).Name)); f.kind != "" {
				pass.Reportf(id.Pos(), "%s: %s", name, f)
				break
			}
		}
	}
	return nil, nil
}

// imports reports whether a package imports package mpi, by others too. Most do not, and have
// nothing to look at.
func imports(p *types.Package, seen map[*types.Package]bool) bool {
	for _, i := range p.Imports() {
		if seen[i] {
			continue
		}
		seen[i] = true
		if i.Path() == mpiPath || imports(i, seen) {
			return true
		}
	}
	return false
}
