package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// This file finds what a function needs on each path through its body. It sees statements that are
// always executed: those of the body up to the first that may leave it, and what both branches of an
// if have in common. Loops, switches and function literals may execute none of theirs.

// block is what each path through statements needs, and whether one may leave before the last.
func (s *search) block(list []ast.Stmt) (uses []use, leaves bool) {
	for k, stmt := range list {
		if i, ok := stmt.(*ast.IfStmt); ok && i.Else == nil && !s.fails(i) {
			if then, leaves := s.block(i.Body.List); leaves { // what follows is its else
				rest, _ := s.block(list[k+1:])
				uses = append(uses, s.called(i.Init)...)
				uses = append(uses, s.called(i.Cond)...)
				return append(uses, both(then, rest)...), true
			}
		}
		more, leaves := s.statement(stmt)
		uses = append(uses, more...)
		if leaves {
			return uses, true
		}
	}
	return uses, false
}

func (s *search) statement(stmt ast.Stmt) (uses []use, leaves bool) {
	switch stmt := stmt.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return s.called(stmt), true
	case *ast.BlockStmt:
		return s.block(stmt.List)
	case *ast.LabeledStmt:
		return s.statement(stmt.Stmt)
	case *ast.IfStmt:
		uses = append(s.called(stmt.Init), s.called(stmt.Cond)...)
		then, leaves := s.block(stmt.Body.List)
		if stmt.Else == nil { // it leaves only if there is an error: see block
			return uses, leaves && !s.fails(stmt)
		}
		other, also := s.statement(stmt.Else)
		return append(uses, both(then, other)...), leaves || also
	case *ast.ForStmt:
		return s.called(stmt.Init), mayLeave(stmt)
	case *ast.RangeStmt:
		return s.called(stmt.X), mayLeave(stmt)
	case *ast.SwitchStmt:
		return append(s.called(stmt.Init), s.called(stmt.Tag)...), mayLeave(stmt)
	case *ast.TypeSwitchStmt:
		return append(s.called(stmt.Init), s.called(stmt.Assign)...), mayLeave(stmt)
	case *ast.SelectStmt:
		return nil, mayLeave(stmt)
	}
	return s.called(stmt), false
}

// both is what is needed on one path and on the other.
func both(one, other []use) (uses []use) {
	for _, u := range one {
		if slices.ContainsFunc(other, func(o use) bool { return o.param == u.param }) {
			uses = append(uses, u)
		}
	}
	return uses
}

// called is what the calls need that are made whenever a statement or an expression is executed.
func (s *search) called(n ast.Node) (uses []use) {
	if n == nil { // no init statement, or no condition
		return nil
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				uses = append(uses, s.called(n.X)...)
				return false
			}
		case *ast.CallExpr:
			if id := callee(n); id != nil {
				uses = append(uses, s.uses(id)...)
			}
		}
		return true
	})
	return uses
}

// callee is the name of the function that an expression calls; nil if it has none.
func callee(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(f.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(f.X)
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
}

// fails reports whether an if without else is entered because there is an error: err != nil.
func (s *search) fails(stmt *ast.IfStmt) bool {
	cond, ok := ast.Unparen(stmt.Cond).(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || !s.pass.TypesInfo.Types[cond.Y].IsNil() {
		return false
	}
	return types.Identical(s.pass.TypesInfo.TypeOf(cond.X), types.Universe.Lookup("error").Type())
}

// mayLeave reports whether a statement contains one that may leave it other than at its end. That a
// break may belong to a statement inside is ignored.
func mayLeave(stmt ast.Stmt) (found bool) {
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Label != nil
		}
		return !found
	})
	return found
}
