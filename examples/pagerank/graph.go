package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strings"
)

// graph is a directed graph: the edges of vertex v go to to[first[v]:first[v+1]].
type graph struct {
	names []string
	first []int
	to    []int
}

// An edgeList is a graph that is being read: edges between names.
type edgeList struct {
	names  []string
	number map[string]int
	edges  [][2]int
}

// vertex is the number of a name, a new one if it is new.
func (l *edgeList) vertex(name string) int {
	if l.number == nil {
		l.number = map[string]int{}
	}
	v, ok := l.number[name]
	if !ok {
		v = len(l.names)
		l.names, l.number[name] = append(l.names, name), v
	}
	return v
}

// graph keeps each edge once, and none from a vertex to itself.
func (l *edgeList) graph() graph {
	targets := make([][]int, len(l.names))
	seen := map[[2]int]bool{}
	for _, e := range l.edges {
		if e[0] != e[1] && !seen[e] {
			seen[e] = true
			targets[e[0]] = append(targets[e[0]], e[1])
		}
	}
	g := graph{names: l.names, first: []int{0}}
	for _, to := range targets {
		g.to = append(g.to, to...)
		g.first = append(g.first, len(g.to))
	}
	return g
}

//go:embed imports.txt
var ownGraph string

// packages is the database of a Debian system.
const packages = "/var/lib/dpkg/status"

// load reads a file, or what the machine has if there is no name.
func load(name string) (graph, error) {
	if name == "" {
		if _, err := os.Stat(packages); err != nil {
			return read("the graph of its own", strings.NewReader(ownGraph))
		}
		name = packages
	}
	f, err := os.Open(name)
	if err != nil {
		return graph{}, fmt.Errorf("pagerank: %w", err)
	}
	defer f.Close()
	return read(name, f)
}

// read reads a graph of either kind: a database begins with a package.
func read(name string, in io.Reader) (graph, error) {
	text := bufio.NewReader(in)
	head, err := text.Peek(len("Package:"))
	if err != nil && err != io.EOF {
		return graph{}, fmt.Errorf("pagerank: %w", err)
	}
	list := readEdges
	if string(head) == "Package:" {
		list = readPackages
	}
	l, err := list(text)
	if err != nil {
		return graph{}, fmt.Errorf("pagerank: %s: %w", name, err)
	}
	return l.graph(), nil
}

// readEdges reads lines of two names. What follows # is a comment.
func readEdges(in io.Reader) (l edgeList, err error) {
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		switch names := strings.Fields(text); len(names) {
		case 0:
		case 2:
			l.edges = append(l.edges, [2]int{l.vertex(names[0]), l.vertex(names[1])})
		default:
			return l, fmt.Errorf("line %d has %d names, want the two of an edge", n, len(names))
		}
	}
	return l, lines.Err()
}

// readPackages reads a database: an edge goes from each installed package to those that
// it depends on. Of alternatives the first that is there counts; a package is there
// under its name and those of what it provides.
func readPackages(in io.Reader) (l edgeList, err error) {
	type wanted struct {
		by   int
		what string
	}
	var depends []wanted
	provided := map[string]int{}
	var p struct{ name, status, depends, provides string }
	flush := func() {
		if p.name != "" && strings.HasSuffix(p.status, " installed") {
			v := l.vertex(p.name)
			for _, other := range names(p.provides) {
				if _, ok := provided[other]; !ok {
					provided[other] = v
				}
			}
			depends = append(depends, wanted{v, p.depends})
		}
		p.name, p.status, p.depends, p.provides = "", "", "", ""
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20) // some have long lines
	for lines.Scan() {
		if lines.Text() == "" {
			flush()
			continue
		}
		key, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "Package":
			p.name = value
		case "Status":
			p.status = value
		case "Depends", "Pre-Depends":
			p.depends += value + ","
		case "Provides":
			p.provides = value
		}
	}
	flush()
	for _, d := range depends {
		for clause := range strings.SplitSeq(d.what, ",") {
			for _, name := range names(strings.ReplaceAll(clause, "|", ",")) {
				v, ok := l.number[name]
				if !ok {
					v, ok = provided[name]
				}
				if ok {
					l.edges = append(l.edges, [2]int{d.by, v})
					break
				}
			}
		}
	}
	return l, lines.Err()
}

// names are those in a list like "libc6 (>= 2.14), python3:any".
func names(list string) (all []string) {
	for item := range strings.SplitSeq(list, ",") {
		if fields := strings.Fields(item); len(fields) > 0 {
			name, _, _ := strings.Cut(fields[0], ":")
			name, _, _ = strings.Cut(name, "(")
			all = append(all, name)
		}
	}
	return all
}
