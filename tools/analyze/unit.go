package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/types"
	"os"
	"slices"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// unit is the work for one package on a platform: it is read, type-checked and analyzed, and what
// that takes is dropped. Left are types and facts.
type unit struct {
	*packages.Package
	platform *platform
	imports  map[string]*unit
	root     bool // all analyzers look at it, not only those that find facts for other packages
	facts    bool // a root needs its facts
	once     sync.Once
	types    *types.Package
	broken   bool // it does not compile, or what it imports does not

	syntax  []*ast.File
	info    *types.Info
	errors  []types.Error
	results map[*analysis.Analyzer]any
}

// ours reports whether the package is of the module that is analyzed.
func (u *unit) ours() bool { return u.Module != nil && u.Module.Main }

// want has the unit and all that it imports find facts.
func (u *unit) want() {
	if !u.facts {
		u.facts = true
		for _, i := range u.imports {
			i.want()
		}
	}
}

func (u *unit) work() {
	if u.PkgPath == "unsafe" {
		u.types = types.Unsafe
		return
	}
	var imports []*unit
	for _, i := range u.imports {
		imports = append(imports, i)
	}
	u.platform.all(imports)
	u.platform.cores <- struct{}{}
	defer func() { <-u.platform.cores }()

	for _, e := range u.Errors {
		u.fail(e.Error())
	}
	for _, i := range imports {
		u.broken = u.broken || i.broken
	}
	inherited := u.platform.before.facts[u.ID]
	if inherited != nil && !slices.Equal(inherited.files, u.CompiledGoFiles) {
		inherited = nil
	}
	u.check(!u.ours() && (inherited != nil || !u.facts))
	if u.facts && !u.broken {
		if inherited != nil {
			u.platform.facts.inherit(u.types, inherited)
		} else {
			u.analyze()
		}
	}
	u.syntax, u.info, u.results = nil, nil, nil
}

func (u *unit) fail(text string) {
	u.broken = true
	u.platform.report.add(text)
}

// check type-checks the package, shallow: without the bodies of functions.
func (u *unit) check(shallow bool) {
	for _, name := range u.CompiledGoFiles {
		f, err := parser.ParseFile(u.platform.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			u.fail(err.Error())
		}
		if f != nil {
			u.syntax = append(u.syntax, f)
		}
	}
	if u.ours() {
		u.bodies()
	}
	version := build.Default.ReleaseTags[len(build.Default.ReleaseTags)-1]
	if u.Module != nil && u.Module.GoVersion != "" {
		version = "go" + u.Module.GoVersion
	}
	config := types.Config{
		GoVersion: version, Sizes: u.TypesSizes, IgnoreFuncBodies: shallow, Importer: u,
		Error: func(err error) {
			u.broken = true
			var e types.Error
			if errors.As(err, &e) {
				u.errors = append(u.errors, e)
				if len(u.errors) > 10 {
					return
				}
				err = fmt.Errorf("%s: %s", e.Fset.Position(e.Pos), e.Msg)
			}
			u.platform.report.add(err.Error())
		},
	}
	if !shallow {
		u.info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
		}
	}
	u.types, _ = config.Check(u.PkgPath, u.platform.fset, u.syntax, u.info)
}

// Import returns the package of an import.
func (u *unit) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	i := u.imports[path]
	if i == nil || i.types == nil {
		return nil, fmt.Errorf("package %s is not there", path)
	}
	return i.types, nil
}

// analyze runs the analyzers: for a root all, else those that find facts.
func (u *unit) analyze() {
	u.results = map[*analysis.Analyzer]any{}
	for _, a := range u.platform.analyzers {
		u.facting(a)
	}
}

// facting runs an analyzer, or those with facts among what it requires.
func (u *unit) facting(a *analysis.Analyzer) {
	if u.root || len(a.FactTypes) > 0 {
		u.result(a)
		return
	}
	for _, r := range a.Requires {
		u.facting(r)
	}
}

// result returns the result of an analyzer, which it runs at the first call.
func (u *unit) result(a *analysis.Analyzer) any {
	if r, ok := u.results[a]; ok {
		return r
	}
	inputs := map[*analysis.Analyzer]any{}
	for _, r := range a.Requires {
		inputs[r] = u.result(r)
	}
	module := &analysis.Module{}
	if m := u.Module; m != nil {
		module = &analysis.Module{Path: m.Path, Version: m.Version, GoVersion: m.GoVersion}
	}
	f := u.platform.facts
	result, err := a.Run(&analysis.Pass{
		Analyzer: a, Fset: u.platform.fset, Files: u.syntax, OtherFiles: u.OtherFiles, IgnoredFiles: u.IgnoredFiles,
		Pkg: u.types, TypesInfo: u.info, TypesSizes: u.TypesSizes, Module: module, ResultOf: inputs, ReadFile: os.ReadFile,
		Report: func(d analysis.Diagnostic) {
			if u.root {
				u.platform.report.add(fmt.Sprintf("%s: %s (%s)", u.platform.fset.Position(d.Pos), d.Message, a.Name))
			}
		},
		ImportObjectFact:  func(o types.Object, fact analysis.Fact) bool { return f.get(o, fact) },
		ExportObjectFact:  func(o types.Object, fact analysis.Fact) { f.set(o, fact) },
		ImportPackageFact: func(p *types.Package, fact analysis.Fact) bool { return f.get(p, fact) },
		ExportPackageFact: func(fact analysis.Fact) { f.set(u.types, fact) },
		AllObjectFacts:    func() []analysis.ObjectFact { return f.objects(a) },
		AllPackageFacts:   func() []analysis.PackageFact { return f.packages(a) },
	})
	if err != nil {
		u.fail(fmt.Sprintf("%s: analyzer %s: %v", u.ID, a.Name, err))
	}
	u.results[a] = result
	if u.root {
		u.platform.add(result)
	}
	return result
}
