package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Two lists in the Makefile leave packages out of the plain run of the tests, and out of the one with the race
// detector. No package is in both.
func TestEveryPackageIsInAPartOfMakeTest(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := func(name string) *regexp.Regexp {
		m := regexp.MustCompile(`(?m)^` + name + ` = (.*)$`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("the Makefile has no list %s", name)
		}
		return regexp.MustCompile(strings.ReplaceAll(string(m[1]), "$$", "$"))
	}
	files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	detected, undetected := list("DETECTED"), list("UNDETECTED")
	plain, raced := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		dir := "/" + filepath.ToSlash(filepath.Dir(f.Path))
		if !strings.HasSuffix(f.Path, "_test.go") {
			continue
		}
		raced[dir], plain[dir] = detected.MatchString(dir), undetected.MatchString(dir)
		if raced[dir] && plain[dir] {
			t.Errorf("make test runs no test of %s: it is in both lists", dir)
		}
	}
	if !raced["/internal/boot"] || raced["/internal/p2p"] || !raced["/examples/ring"] || raced["/examples"] || !plain["/examples"] || !plain["/internal/wire"] || plain["/mpi"] || raced["/mpi"] {
		t.Errorf("only with the detector: %v, only without: %v", raced, plain)
	}
}

// BRD-09: tests wait until their processes are idle (testrun.Context, testrun.Watch), or for testrun.Long. A wait that
// ends after seconds fails on a slow or busy machine.
func TestBRD09_TestsHaveNoShortDeadlines(t *testing.T) {
	short := regexp.MustCompile(`(time\.After(Func)?\(|time\.Now\(\)\.Add\(|WithTimeout\([^,\n]*, )([0-9]+ ?\* ?time\.Second|[0-9]? ?\*? ?time\.Minute)`)
	for _, deadline := range []string{"defer time.AfterFunc(30*time.Second, f)", "case <-time.After(20 * time.Second):", "time.Now().Add(time.Minute)",
		"context.WithTimeout(t.Context(), 3*time.Minute)"} {
		if !short.MatchString(deadline) {
			t.Errorf("%s is not found", deadline)
		}
	}
	files, err := Load(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		support := strings.HasPrefix(f.Path, "internal/fabric/fabrictest/") || strings.HasPrefix(f.Path, "internal/hosttest/") || strings.HasPrefix(f.Path, "internal/enginetest/")
		if !strings.HasSuffix(f.Path, "_test.go") && !support || strings.HasPrefix(f.Path, "internal/lint/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", f.Path))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range short.FindAllString(string(text), -1) {
			t.Errorf("%s: %s ...", f.Path, found)
		}
	}
}
