package main

import (
	"go/types"
	"reflect"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"
)

// facts are what analyzers have found out about objects and packages, for packages that import them:
// by the kind of fact, and the object or package. The packages of a platform have one universe of
// types, so that each stands for itself.
type facts struct {
	mu  sync.RWMutex
	all map[reflect.Type]map[any]analysis.Fact
}

func newFacts() *facts { return &facts{all: map[reflect.Type]map[any]analysis.Fact{}} }

func (f *facts) get(about any, fact analysis.Fact) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	known, ok := f.all[reflect.TypeOf(fact)][about]
	if ok {
		reflect.ValueOf(fact).Elem().Set(reflect.ValueOf(known).Elem())
	}
	return ok
}

func (f *facts) set(about any, fact analysis.Fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := reflect.TypeOf(fact)
	if f.all[kind] == nil {
		f.all[kind] = map[any]analysis.Fact{}
	}
	f.all[kind][about] = fact
}

// each calls a function for all facts of the kinds of an analyzer.
func (f *facts) each(a *analysis.Analyzer, yield func(about any, fact analysis.Fact)) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, kind := range a.FactTypes {
		for about, fact := range f.all[reflect.TypeOf(kind)] {
			yield(about, fact)
		}
	}
}

func (f *facts) objects(a *analysis.Analyzer) (list []analysis.ObjectFact) {
	f.each(a, func(about any, fact analysis.Fact) {
		if o, ok := about.(types.Object); ok {
			list = append(list, analysis.ObjectFact{Object: o, Fact: fact})
		}
	})
	return list
}

func (f *facts) packages(a *analysis.Analyzer) (list []analysis.PackageFact) {
	f.each(a, func(about any, fact analysis.Fact) {
		if p, ok := about.(*types.Package); ok {
			list = append(list, analysis.PackageFact{Package: p, Fact: fact})
		}
	})
	return list
}

// inheritance is the facts about a package that has the same files on another platform: they are the
// same there, and to find them takes most of the time.
type inheritance struct {
	files []string
	facts []inherited
}

// inherited is a fact about the package, or about an object by its path.
type inherited struct {
	path objectpath.Path
	fact analysis.Fact
}

// bequeath keeps the facts about packages of other modules, unless a platform before has them.
func (p *platform) bequeath() {
	heirs := map[*types.Package]*inheritance{}
	for _, u := range p.units {
		if !u.ours() && u.facts && !u.broken && p.before.facts[u.ID] == nil {
			i := &inheritance{files: u.CompiledGoFiles}
			p.before.facts[u.ID], heirs[u.types] = i, i
		}
	}
	var paths objectpath.Encoder
	for _, known := range p.facts.all {
		for about, fact := range known {
			switch about := about.(type) {
			case *types.Package:
				if i := heirs[about]; i != nil {
					i.facts = append(i.facts, inherited{"", fact})
				}
			case types.Object:
				if i := heirs[about.Pkg()]; i != nil {
					// An object without a path is none that another package can name.
					if path, err := paths.For(about); err == nil {
						i.facts = append(i.facts, inherited{path, fact})
					}
				}
			}
		}
	}
}

// inherit takes over the facts about a package.
func (f *facts) inherit(pkg *types.Package, i *inheritance) {
	for _, x := range i.facts {
		if x.path == "" {
			f.set(pkg, x.fact)
		} else if o, err := objectpath.Object(pkg, x.path); err == nil {
			f.set(o, x.fact)
		}
	}
}
