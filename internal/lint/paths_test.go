package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// missing returns the paths of the repository in backquotes in a text that do not exist below root. Such a path begins with the name of a
// folder of the root, and may have an asterisk. Blocks between fences are programs and outputs, and not looked at.
func missing(t *testing.T, root, text string) (gone []string) {
	t.Helper()
	path := regexp.MustCompile("`(\\w[\\w.-]*)(/[\\w.*-]+)+/?`")
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, found := range path.FindAllStringSubmatch(line, -1) {
			if _, err := os.Stat(filepath.Join(root, found[1])); err != nil {
				continue
			}
			name := strings.Trim(found[0], "`")
			if all, err := filepath.Glob(filepath.Join(root, name)); err != nil || len(all) == 0 {
				gone = append(gone, name)
			}
		}
	}
	return gone
}

// Every path of the repository that the documents name exists.
func TestPathsInDocumentsExist(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	decisions, err := filepath.Glob(filepath.Join(root, "docs", "decisions", "*.md"))
	if err != nil || len(decisions) < 10 {
		t.Fatalf("%d pages of decisions, %v", len(decisions), err)
	}
	for _, page := range append(append(pages, decisions...), filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range missing(t, root, string(text)) {
			t.Errorf("%s names %s, which does not exist", filepath.Base(page), name)
		}
	}
	const planted = "`internal/proc/none.go` and `internal/lint/paths_test.go`, `mpi/hosts_*`, `mpi/none_*`, `elsewhere/none.go`\n```\n`docs/none.md`\n```\n"
	if gone := missing(t, root, planted); strings.Join(gone, " ") != "internal/proc/none.go mpi/none_*" {
		t.Errorf("of planted paths %v do not exist", gone)
	}
}
