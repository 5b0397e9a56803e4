package mpi_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The programs in pages of the documentation are the bodies of examples of this package, line by
// line, so that they compile and print the expected output.
func TestPagesShowExamples(t *testing.T) {
	for page, files := range map[string]string{"rma.md": "example_onesided_test.go", "extensions.md": "example_extension_*_test.go", "go.md": "example_go_*_test.go"} {
		text, err := os.ReadFile("../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(files)
		if err != nil || len(names) == 0 {
			t.Fatalf("no files %s, %v", files, err)
		}
		var lines []string
		examples := 0
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			examples += strings.Count(string(source), "\nfunc Example") + strings.Count(string(source), "\nfunc TestPage")
			for line := range strings.Lines(string(source)) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		all := "\n" + strings.Join(lines, "\n")
		blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
		for _, b := range blocks {
			lines = lines[:0]
			for line := range strings.Lines(b[1]) {
				lines = append(lines, strings.TrimSpace(line))
			}
			if !strings.Contains(all, "\n"+strings.Join(lines, "\n")+"\n") {
				t.Errorf("no example has this program of %s:\n%s", page, b[1])
			}
		}
		if len(blocks) != examples {
			t.Errorf("%s shows %d programs, and there are %d examples", page, len(blocks), examples)
		}
	}
}
