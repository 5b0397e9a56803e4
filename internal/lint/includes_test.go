package lint

import (
	"path/filepath"
	"slices"
	"testing"
)

// The C files of a folder include each other without a circle, where a header and the source file of its name count as one.
func TestIncludesFormNoCircle(t *testing.T) {
	files, err := Load(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range includeFolders() {
		if !slices.ContainsFunc(files, func(f *File) bool { return f.Dir() == folder && len(included(f)) > 0 }) {
			t.Errorf("%s has no C file that includes another one", folder)
		}
		for _, circle := range includeCircles(files, folder) {
			t.Errorf("%s: %s", folder, circle)
		}
	}
}

func TestIncludeCirclesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"none": {map[string]string{
			"abi/lib/a.c": `#include "a.h"` + "\n" + `#include "b.h"`, "abi/lib/a.h": `#include "c.h"`,
			"abi/lib/b.c": `#include "b.h"`, "abi/lib/b.h": `#include "c.h"`, "abi/lib/c.h": "#include <stdint.h>\n#include \"../include/mpi.h\"",
		}, nil},
		"headers": {map[string]string{
			"abi/lib/a.h": `#include "b.h"`, "abi/lib/b.h": `#include "c.h"`, "abi/lib/c.h": " # include \"a.h\"",
		}, []string{"a -> b -> c -> a"}},
		"pairs": {map[string]string{
			"abi/lib/a.c": `#include "b.h"`, "abi/lib/a.h": "", "abi/lib/b.c": `#include "a.h"`, "abi/lib/b.h": "",
		}, []string{"a -> b -> a"}},
		"behind another unit": {map[string]string{
			"abi/lib/a.h": `#include "b.h"`, "abi/lib/b.c": `#include "c.h"`, "abi/lib/b.h": "", "abi/lib/c.h": `#include "b.h"`,
		}, []string{"b -> c -> b"}},
		"other folders": {map[string]string{
			"bench/a.h": `#include "b.h"`, "bench/b.h": `#include "a.h"`,
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var files []*File
			for p, text := range c.files {
				files = append(files, &File{Path: p, Text: []byte(text)})
			}
			slices.SortFunc(files, func(x, y *File) int { return slices.Compare([]byte(x.Path), []byte(y.Path)) })
			if got := includeCircles(files, "abi/lib"); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
