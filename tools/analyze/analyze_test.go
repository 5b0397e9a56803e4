package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The module in testdata has lines that end with what is reported about them, each once, and others
// about which nothing is: what the analyzers know of other packages spares those. Files of platforms
// and of the race detector are among them.
func TestPlantedFindings(t *testing.T) {
	t.Chdir("testdata")
	platforms := []string{host}
	for _, p := range []string{"linux/amd64", "darwin/arm64", "windows/amd64"} {
		if p != host {
			platforms = append(platforms, p)
		}
	}
	var want []string
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, finding := range strings.Split(line, "// reported: ")[1:] {
				want = append(want, filepath.ToSlash(name)+":"+strconv.Itoa(i+1)+": "+strings.TrimSpace(finding))
			}
		}
	}
	column := regexp.MustCompile(`^([^:]+:\d+):\d+`)
	var got []string
	for _, line := range run(append(platforms, "./other")) {
		got = append(got, column.ReplaceAllString(filepath.ToSlash(line), "$1"))
	}
	for _, line := range got {
		if !slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(line, w) }) {
			t.Errorf("reported, though nothing is wrong: %s", line)
		}
	}
	for _, w := range want {
		n := 0
		for _, line := range got {
			if strings.HasPrefix(line, w) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("reported %d times: %s", n, w)
		}
	}
}
