package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// includeFolders returns the folders whose C files must not include each other in a circle.
func includeFolders() []string { return []string{"abi/lib", "bench"} }

// included returns the headers that a C file includes by names in quotes, as it spells them.
func included(f *File) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"]+)"`).FindAllSubmatch(f.Text, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// unit returns the name of the unit of a C file: a header and the source file of the same name are one unit.
func unit(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// includeCircles returns the circles of units of a folder that a search in depth closes: "a -> b -> a". A unit uses another
// one if one of its files includes the header of the other one. Thus a circle of headers is one of units, too.
func includeCircles(files []*File, folder string) []string {
	uses := map[string][]string{}
	var units []string
	for _, f := range files {
		if f.Dir() != folder || !slices.Contains([]string{".c", ".h"}, path.Ext(f.Path)) {
			continue
		}
		u := unit(f.Path)
		if !slices.Contains(units, u) {
			units = append(units, u)
		}
		for _, header := range included(f) {
			if used := unit(path.Join(folder, header)); used != u {
				uses[u] = append(uses[u], used)
			}
		}
	}

	var circles, way []string
	done := map[string]bool{}
	var visit func(u string)
	visit = func(u string) {
		if i := slices.Index(way, u); i >= 0 {
			var names []string
			for _, w := range append(slices.Clone(way[i:]), u) {
				names = append(names, path.Base(w))
			}
			circles = append(circles, strings.Join(names, " -> "))
			return
		}
		if done[u] {
			return
		}
		way = append(way, u)
		for _, used := range uses[u] {
			visit(used)
		}
		way = way[:len(way)-1]
		done[u] = true
	}
	for _, u := range units {
		visit(u)
	}
	return circles
}
