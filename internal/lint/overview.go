package lint

import (
	"bytes"
	"go/ast"
	"maps"
	"path"
	"slices"
)

const (
	// overviewFrom is the number of lines of a package beyond which it has an overview, a file doc.go with the
	// package comment. Tests and generated files do not count.
	overviewFrom = 300
	// overviewMax is the greatest length of an overview in lines: nobody reads more before the code.
	overviewMax = 40
)

// checkOverviews requires that a package of more than overviewFrom lines has its package comment in doc.go, where
// readers look for it, and in no other file: go doc would show both, in the order of the names of files.
func checkOverviews(files []*File, report func(f *File, line int, format string, args ...any)) {
	packages := map[string][]*File{} // by folder
	for _, f := range files {
		if f.Go != nil && f.Error == nil && !f.Test() {
			packages[f.Dir()] = append(packages[f.Dir()], f)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		all, size := packages[dir], 0
		for _, f := range all {
			if !f.generated() {
				size += f.lines()
			}
		}
		if size > overviewFrom {
			checkOverview(all, size, report)
		}
	}
}

// checkOverview checks a package of so many lines.
func checkOverview(all []*File, size int, report func(f *File, line int, format string, args ...any)) {
	i := slices.IndexFunc(all, func(f *File) bool { return path.Base(f.Path) == "doc.go" })
	if i < 0 {
		report(all[0], 1, "the package has %d lines and no doc.go: say there what it is, who calls it, and its one trap", size)
	}
	for k, f := range all {
		comment := packageComment(f)
		switch {
		case k != i && comment != nil && i >= 0:
			report(f, f.Line(comment.Pos()), "a package comment beside that of doc.go")
		case k == i && comment == nil:
			report(f, 1, "doc.go without a package comment")
		case k == i && f.lines() > overviewMax:
			report(f, overviewMax+1, "doc.go has %d lines, the limit is %d: details belong to the comments of types", f.lines(), overviewMax)
		}
	}
}

// packageComment returns the comment that documents the package in f, nil if there is none. Directives, such as build
// constraints, are no comment.
func packageComment(f *File) *ast.CommentGroup {
	if f.Go.Doc == nil || f.Go.Doc.Text() == "" {
		return nil
	}
	return f.Go.Doc
}

// lines is the number of lines of the file.
func (f *File) lines() int { return bytes.Count(f.Text, []byte{'\n'}) }
