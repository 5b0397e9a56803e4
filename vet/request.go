package vet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// DroppedRequest reports calls whose result is a Request of package mpi that is not kept.
var DroppedRequest = &analysis.Analyzer{
	Name: "mpirequest",
	Doc: `report requests of nonblocking MPI calls that are dropped

A call such as mpi.Isend returns a Request. Without it nobody learns of errors, or when the buffer
may be used again, and the request is never freed. To drop one on purpose, assign it: _ = mpi.Isend(...).`,
	URL: "https://pkg.go.dev/github.com/halo-mpi/halo/vet",
	Run: runDroppedRequest,
}

func runDroppedRequest(pass *analysis.Pass) (any, error) {
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			var call *ast.CallExpr
			switch n := n.(type) {
			case *ast.ExprStmt:
				call, _ = ast.Unparen(n.X).(*ast.CallExpr)
			case *ast.GoStmt:
				call = n.Call
			case *ast.DeferStmt:
				call = n.Call
			}
			if call != nil && returnsRequest(pass.TypesInfo.TypeOf(call)) {
				pass.Reportf(call.Pos(), "the Request of %s is dropped: wait for it, test it, or free it", types.ExprString(call.Fun))
			}
			return true
		})
	}
	return nil, nil
}

// returnsRequest reports whether the results of a call are, or contain, a Request.
func returnsRequest(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Tuple:
		for v := range t.Variables() {
			if returnsRequest(v.Type()) {
				return true
			}
		}
	case *types.Named:
		obj := t.Obj()
		return obj.Name() == "Request" && obj.Pkg() != nil && obj.Pkg().Path() == mpiPath
	}
	return false
}
