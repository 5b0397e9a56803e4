package lint

import (
	"path"
	"strings"
)

// A layer is a set of packages of one rank. A package may import packages of its own
// layer and of the layers below, and none of the layers above.
type layer struct {
	name     string
	packages []string // folders; a trailing /... means everything below it
}

// layers returns the layers, top first. Every package of the module belongs to one; a
// new package goes into the lowest layer that permits its imports.
func layers() []layer {
	return []layer{
		{"programs", []string{"abi/...", "cmd/...", "deploy/...", "examples/...", "bench/...", "conformance/...", "internal/planted/find"}},
		{"launcher", []string{"internal/launch"}},
		{"agents of the launcher", []string{"internal/launch/agent"}},
		{"parts of the launcher", []string{"internal/launch/program", "internal/launch/ps", "internal/launch/reach"}},
		{"data of the launcher", []string{"internal/launch/exit", "internal/launch/plan", "internal/launch/talk", "internal/launch/wording"}},
		{"test support of the API", []string{"mpi/mpitest", "mpi/histories"}},
		{"pool", []string{"mpi/pool"}},
		{"API", []string{"mpi"}},
		{"assembly", []string{"internal/world", "internal/replay"}},
		{"semantics", []string{"internal/p2p", "internal/part", "internal/coll", "internal/coll/agree", "internal/coll/args", "internal/coll/choice", "internal/coll/kind", "internal/coll/slot", "internal/file", "internal/file/filetest", "internal/meet", "internal/rma", "internal/rma/attach", "internal/rma/check", "internal/rma/link", "internal/rma/lock", "internal/rma/memhandle", "internal/rma/operation", "internal/rma/serve", "internal/rma/syncobject"}},
		{"process", []string{"internal/proc", "internal/proc/waitsim", "internal/comm", "internal/match", "internal/op", "internal/op/gen", "internal/dtype", "internal/dtype/dtypetest", "internal/dtype/gen", "internal/apply", "internal/mem", "internal/node/store"}},
		{"transports", []string{"internal/fabric/shm", "internal/fabric/sim", "internal/fabric/tcp"}},
		{"node", []string{"internal/node", "internal/node/inproc", "internal/node/nodetest", "internal/node/pair"}},
		{"transport contract", []string{"internal/fabric", "internal/fabric/fabrictest", "internal/hosttest", "internal/enginetest"}},
		{"formats", []string{"internal/address", "internal/cname", "internal/shmfmt", "internal/wire", "internal/boot", "internal/boot/engine", "internal/boot/pmi1", "internal/boot/pmi2", "internal/boot/pmix", "internal/boot/rendezvous", "internal/node/segment", "internal/boot/joined", "internal/callsite", "internal/frame", "internal/class", "internal/heap", "internal/offheap", "internal/leftover", "internal/lines", "internal/peers", "internal/node/sparse", "internal/topology"}},
		{"system", []string{"internal/sys", "internal/call", "internal/planted", "internal/leak", "internal/testrun", "internal/lint", "internal/unexported"}},
	}
}

// A separation forbids imports that the layers would allow.
type separation struct {
	from, to string // patterns as in a layer
	why      string
}

func separations() []separation {
	return []separation{
		{"internal/fabric/shm", "internal/fabric/tcp", "transports do not know each other"},
		{"internal/fabric/tcp", "internal/fabric/shm", "transports do not know each other"},
		{"internal/fabric/tcp", "internal/node", "sockets need no shared memory"},
		{"internal/...", "mpi/...", "the engine and the launcher serve the API and do not call it; what calls it belongs below cmd"},
		{"examples/...", "internal/...", "an example shows what a user can write"},
		{"cmd/...", "examples/...", "the tool does not depend on its examples"},
		{"internal/...", "internal/lint", "the lint is a test, not a library"},
	}
}

// matches reports whether pattern matches the folder dir.
func matches(pattern, dir string) bool {
	if parent, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == parent || strings.HasPrefix(dir, parent+"/")
	}
	return dir == pattern
}

// height returns the index of a folder's layer, -1 if it belongs to none.
func height(table []layer, dir string) int {
	for i, l := range table {
		for _, p := range l.packages {
			if matches(p, dir) {
				return i
			}
		}
	}
	return -1
}

// checkLayers checks that imports follow the order of the layers. Tests may import any
// package, because they may build the whole engine around the code under test.
func checkLayers(f *File, report func(int, string, ...any)) {
	if f.Go == nil {
		return
	}
	table := layers()
	from := f.Dir()
	here := height(table, from)
	if here < 0 {
		report(f.Line(f.Go.Package), "package %s has no layer: enter it in layers(), internal/lint/layers.go", path.Join(Module, from))
		return
	}
	if f.Test() {
		return
	}
	for _, imp := range f.Go.Imports {
		to, ok := strings.CutPrefix(importPath(imp), Module+"/")
		if !ok {
			continue
		}
		line := f.Line(imp.Pos())
		switch there := height(table, to); {
		case there < 0:
			report(line, "imports %s, which has no layer", to)
		case there < here:
			report(line, "%s (%s) imports %s (%s), which is above it", from, table[here].name, to, table[there].name)
		}
		for _, s := range separations() {
			if matches(s.from, from) && matches(s.to, to) && from != to {
				report(line, "%s imports %s: %s", from, to, s.why)
			}
		}
	}
}
