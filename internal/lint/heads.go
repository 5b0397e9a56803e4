package lint

import (
	"go/ast"
	"go/token"
)

// checkHeads forbids side effects in the heads of statements: the first part of an if or switch may only declare, and
// that of a for may also assign to the variable that its last part changes.
func checkHeads(f *File, report func(int, string, ...any)) {
	if f.Go == nil {
		return
	}
	ast.Inspect(f.Go, func(n ast.Node) bool {
		var first ast.Stmt
		counts := false
		switch n := n.(type) {
		case *ast.IfStmt:
			first = n.Init
		case *ast.SwitchStmt:
			first = n.Init
		case *ast.TypeSwitchStmt:
			first = n.Init
		case *ast.ForStmt:
			first, counts = n.Init, n.Post != nil
		}
		if first == nil {
			return true
		}
		a, assigns := first.(*ast.AssignStmt)
		if !assigns || a.Tok != token.DEFINE && !(counts && a.Tok == token.ASSIGN) {
			report(f.Line(first.Pos()), "a side effect in the head of a statement: put it before")
		}
		return true
	})
}
