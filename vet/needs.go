package vet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// mpiPath is the import path of package mpi.
const mpiPath = "github.com/halo-mpi/halo/mpi"

// directive marks functions of package mpi that make the run-time check, or keep a type for it.
// The names of the type parameters that are checked follow it.
const directive = "//halo:plaindata "

// needs is the fact that type parameters of a function or type must be plain data.
//
// In package mpi it begins at the directives and spreads to every function that mentions one that
// has it with a type parameter of its own: Send has it because it calls dataOf, which calls golang,
// where the check is. Conditions on the way do not matter: they are about numbers, for which no
// check is necessary. A type has the fact if one of its methods needs its type parameter.
//
// In other packages it spreads to a function only if each path through the body calls something
// that has it, except for paths that return because of an error. A function that sends plain data
// and does something else with the rest does not have it.
//
// Rejected: a list of calls, which becomes stale; all functions of package mpi with a type
// parameter, of which Address and FreeMem take any type.
type needs struct {
	Params []int  // indices of type parameters, ascending
	Calls  string // outside of package mpi: what makes it necessary, such as mpi.Send
}

// AFact makes needs a fact of an analyzer.
func (*needs) AFact() {}

// String is for tests of the analyzer.
func (n *needs) String() string { return "needs plain data" }

// A search finds the functions and types of a package that have the fact.
type search struct {
	pass  *analysis.Pass
	inMPI bool
	found map[types.Object]*needs
}

// A use is a type parameter that must be plain data, and what makes it necessary.
type use struct {
	param *types.TypeParam
	calls string
}

// searchNeeds finds all and exports them as facts.
func searchNeeds(pass *analysis.Pass) *search {
	s := &search{pass, pass.Pkg.Path() == mpiPath, map[types.Object]*needs{}}
	var decls []*ast.FuncDecl
	for _, f := range pass.Files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				decls = append(decls, d)
			}
		}
	}
	for again := true; again; {
		again = false
		for _, d := range decls {
			again = s.visit(d) || again
		}
	}
	for obj, n := range s.found {
		pass.ExportObjectFact(obj, n)
	}
	return s
}

// visit adds what a function must have, and reports whether some of it is new.
func (s *search) visit(d *ast.FuncDecl) (added bool) {
	fn, ok := s.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok {
		return false
	}
	var obj types.Object = fn
	params := fn.Signature().TypeParams()
	if recv := fn.Signature().Recv(); recv != nil {
		if !s.inMPI {
			return false // the type may be of use without this method
		}
		params = fn.Signature().RecvTypeParams()
		obj = named(recv.Type())
	}
	if params.Len() == 0 || obj == nil {
		return false
	}
	var uses []use
	if s.inMPI {
		uses = append(s.mentioned(d), marked(d, params)...)
	} else {
		uses, _ = s.block(d.Body.List)
	}
	for i := range params.Len() {
		at := slices.IndexFunc(uses, func(u use) bool { return u.param == params.At(i) })
		if at < 0 {
			continue
		}
		n := s.found[obj]
		if n == nil {
			n = &needs{}
			s.found[obj] = n
		}
		if !slices.Contains(n.Params, i) {
			n.Params = append(n.Params, i)
			slices.Sort(n.Params)
			added = true
			if !s.inMPI {
				n.Calls = uses[at].calls
			}
		}
	}
	return added
}

// named is the object of a defined type or of what a pointer to one points to.
func named(t types.Type) types.Object {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// marked is what a directive in the comment of a function names.
func marked(d *ast.FuncDecl, params *types.TypeParamList) (uses []use) {
	if d.Doc == nil {
		return nil
	}
	for _, c := range d.Doc.List {
		names, _ := strings.CutPrefix(c.Text, directive)
		for p := range params.TypeParams() {
			if names != c.Text && slices.Contains(strings.Fields(names), p.Obj().Name()) {
				uses = append(uses, use{param: p})
			}
		}
	}
	return uses
}

// mentioned is what all generic functions and types that a node mentions need.
func (s *search) mentioned(n ast.Node) (uses []use) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			uses = append(uses, s.uses(id)...)
		}
		return true
	})
	return uses
}

// uses is what the instance of something generic needs that an identifier names.
func (s *search) uses(id *ast.Ident) (uses []use) {
	n, name := s.needsOf(id)
	if n == nil {
		return nil
	}
	args := s.pass.TypesInfo.Instances[id].TypeArgs
	for _, i := range n.Params {
		if i < args.Len() {
			for _, p := range examine(args.At(i), "").params {
				uses = append(uses, use{p, name})
			}
		}
	}
	return uses
}

// needsOf is the fact of what an identifier names, and what to call that in a message; nil if it
// has none or the identifier makes no instance of it.
func (s *search) needsOf(id *ast.Ident) (*needs, string) {
	obj := s.pass.TypesInfo.Uses[id]
	if _, ok := s.pass.TypesInfo.Instances[id]; !ok || obj == nil || obj.Pkg() == nil {
		return nil, ""
	}
	n := s.found[obj]
	if obj.Pkg() != s.pass.Pkg {
		n = new(needs)
		if !s.pass.ImportObjectFact(obj, n) {
			return nil, ""
		}
	}
	if n == nil {
		return nil, ""
	}
	name := obj.Name()
	if obj.Pkg() != s.pass.Pkg {
		name = obj.Pkg().Name() + "." + name
	}
	if n.Calls != "" {
		name += ", which calls " + n.Calls
	}
	return n, name
}
