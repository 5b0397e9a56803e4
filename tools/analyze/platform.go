package main

import (
	"fmt"
	"go/token"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/unused"
)

// history is what has been seen on the platforms before.
type history struct {
	files map[string]bool         // of this module
	facts map[string]*inheritance // about packages of other modules
}

// platform is the work for one platform.
type platform struct {
	fset      *token.FileSet
	analyzers []*analysis.Analyzer
	facts     *facts
	before    *history
	report    *report
	cores     chan struct{}

	mu    sync.Mutex
	units map[*packages.Package]*unit
	found declarations
}

// analyze analyzes what a platform has and no platform before.
func (h *history) analyze(name, dir string, env, flags []string, r *report) {
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedModule | packages.NeedForTest | packages.NeedTypesSizes,
		Dir: dir, Env: env, BuildFlags: flags, Tests: true,
	}
	pkgs, err := packages.Load(config, "./...")
	if err != nil {
		r.add(fmt.Sprintf("%s: %v", name, err))
		return
	}
	fresh := h.unseen(pkgs)
	fmt.Printf("analyze for %s: %d packages\n", name, len(fresh))
	p := &platform{
		fset: token.NewFileSet(), analyzers: analyzers(), facts: newFacts(), before: h, report: r,
		cores: make(chan struct{}, runtime.GOMAXPROCS(0)), units: map[*packages.Package]*unit{},
	}
	if err := analysis.Validate(p.analyzers); err != nil {
		r.add(err.Error())
		return
	}
	// A package with its tests has all files of the package, and is analyzed instead.
	tested := map[string]bool{}
	for _, q := range pkgs {
		if q.ForTest == q.PkgPath {
			tested[q.PkgPath] = true
		}
	}
	var roots []*unit
	for _, q := range pkgs {
		u := p.unit(q)
		if !strings.HasSuffix(q.ID, ".test") && (q.ForTest != "" || !tested[q.PkgPath]) && fresh[q.Dir] {
			u.root = true
			u.want()
		}
		if len(flags) == 0 || u.root {
			roots = append(roots, u)
		}
	}
	p.all(roots)
	p.bequeath()
	p.found.report(r)
}

// unseen returns the folders of packages that have files which no platform before has.
func (h *history) unseen(pkgs []*packages.Package) map[string]bool {
	fresh, files := map[string]bool{}, map[string]bool{}
	for _, p := range pkgs {
		if strings.HasSuffix(p.ID, ".test") {
			continue // its only file is made for it
		}
		for _, f := range slices.Concat(p.GoFiles, p.OtherFiles) {
			if !h.files[f] {
				fresh[p.Dir], files[f] = true, true
			}
		}
	}
	maps.Copy(h.files, files)
	return fresh
}

// unit returns the unit of a package, and makes those of what it imports.
func (p *platform) unit(q *packages.Package) *unit {
	if u := p.units[q]; u != nil {
		return u
	}
	u := &unit{platform: p, Package: q, imports: map[string]*unit{}}
	p.units[q] = u
	for path, i := range q.Imports {
		u.imports[path] = p.unit(i)
	}
	return u
}

// all does the work for units, and before for what they import.
func (p *platform) all(list []*unit) {
	var wg sync.WaitGroup
	for _, u := range list {
		wg.Go(func() { u.once.Do(u.work) })
	}
	wg.Wait()
}

// add takes the result of an analyzer that reports at the end only.
func (p *platform) add(result any) {
	if found, ok := result.(unused.Result); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.found.add(found)
	}
}
