package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// checkDocs requires a comment for every exported symbol of package mpi. Its last
// paragraph must give the name in C and the section of the standard that defines it:
//
//	C: MPI_Send, section 3.2.1.
//	C: MPI_Test and MPI_Request_free, sections 3.7.3 and 3.7.9.
//	C: MPI_ERR_BUFFER and so on, section 9.4.
//	C: attribute MPI_TAG_UB, section 9.1.2.
//	C: info key no_locks, section 12.2.1.
//	C: none; a Go slice knows its length.
//	C: MPIX_Put_notify, an extension.
//
// Constants and variables may share the paragraph of their group. Methods of Go's
// interfaces (Error, String ...) need none. The other public packages have no
// counterpart in C and only need the comment.
func checkDocs(f *File, report func(int, string, ...any)) {
	if f.Go == nil || f.Test() || !matches("mpi/...", f.Dir()) {
		return
	}
	d := docChecker{f: f, cited: f.Dir() == "mpi", report: report}
	d.citation = regexp.MustCompile(
		`(?m)^C: (none[,;] \S.*|` +
			`(the [a-z_ ]+ of )?` + extension + `((, | and )` + extension + `)*, (an )?extensions?(; see docs/extensions\.md)?|` +
			`info key [a-z_]+, an extension|` +
			`(info key [a-z_]+|(attribute )?` + cName + `((, | and |, and | with )` + cName + `)*( and so on)?), ` +
			`sections? ` + number + `((, | and |, and | to )` + number + `)*)\.\s*\z`)
	for _, decl := range f.Go.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d.function(decl)
		case *ast.GenDecl:
			d.group(decl)
		}
	}
}

// cName matches a name in C, and extension a name that is not in the standard.
const (
	cName     = `MPIX?_\w+`
	extension = `MPIX_\w+`
)

// number matches the number of a section of the standard: 3.2.1, or A.1.1 in an annex.
const number = `([0-9]+|[A-Z])(\.[0-9]+)*`

type docChecker struct {
	f        *File
	cited    bool // the package's comments end with a citation
	citation *regexp.Regexp
	report   func(int, string, ...any)
}

func (d *docChecker) function(fn *ast.FuncDecl) {
	name := fn.Name.Name
	if !fn.Name.IsExported() {
		return
	}
	cited := true
	if fn.Recv != nil {
		recv := receiver(fn.Recv.List[0].Type)
		if !ast.IsExported(recv) {
			return
		}
		cited = !goMethod(name)
		name = recv + "." + name
	}
	d.comment(name, fn.Pos(), cited, fn.Doc)
}

func (d *docChecker) group(gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				// The comment of a type outside of a group belongs to the declaration.
				d.comment(spec.Name.Name, spec.Pos(), true, spec.Doc, gen.Doc)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					d.comment(name.Name, name.Pos(), true, spec.Doc, spec.Comment, gen.Doc)
				}
			}
		}
	}
}

// comment checks the comments about one symbol, nearest first.
func (d *docChecker) comment(name string, at token.Pos, cited bool, docs ...*ast.CommentGroup) {
	documented, citation := false, false
	for _, c := range docs {
		text := c.Text()
		documented = documented || strings.TrimSpace(text) != ""
		citation = citation || d.citation.MatchString(text)
	}
	switch {
	case !documented:
		d.report(d.f.Line(at), "%s is exported and has no comment", name)
	case d.cited && cited && !citation:
		d.report(d.f.Line(at), `the comment of %s does not end with "C: MPI_Name, section 1.2.3." or "C: none; reason."`, name)
	}
}

// receiver returns the name of a method's type, without pointer and type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// goMethod reports whether a method belongs to an interface of Go.
func goMethod(name string) bool {
	switch name {
	case "Error", "Is", "As", "Unwrap", "String", "GoString", "Format", "MarshalText", "UnmarshalText":
		return true
	}
	return false
}
