package mpi_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The programs in docs/rma.md are the bodies of examples of this package, line by line,
// so that they compile and print what they should.
func TestPageOfOneSidedCommunicationShowsExamples(t *testing.T) {
	page, err := os.ReadFile("../docs/rma.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_onesided_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(source)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	all := "\n" + strings.Join(lines, "\n")
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	for _, b := range blocks {
		lines = lines[:0]
		for line := range strings.Lines(b[1]) {
			lines = append(lines, strings.TrimSpace(line))
		}
		if !strings.Contains(all, "\n"+strings.Join(lines, "\n")+"\n") {
			t.Errorf("no example has this program:\n%s", b[1])
		}
	}
	if n := strings.Count(string(source), "\nfunc Example"); len(blocks) != n {
		t.Errorf("the page shows %d programs, and there are %d examples", len(blocks), n)
	}
}
