package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
)

// halo info lists all predefined types once, by size, with the extent if it
// differs.
func TestInfoListsDatatypes(t *testing.T) {
	var out strings.Builder
	printTypes(&out)
	listed := map[string]string{}
	size := ""
	for line := range strings.Lines(out.String()) {
		m := regexp.MustCompile(`^  (  |[ \d]\d)  (MPI_.*)\n$`).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if len(line) > typesWidth+1 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
		if s := strings.TrimSpace(m[1]); s != "" {
			size = s
		}
		for _, entry := range strings.Split(strings.TrimSuffix(m[2], ","), ", ") {
			name, extent, _ := strings.Cut(entry, " ")
			if listed[name] != "" {
				t.Errorf("%s is listed twice", name)
			}
			listed[name] = strings.TrimSpace(size + " " + extent)
		}
	}
	n := 0
	dtype.Predefined().Each(func(_ dtype.ID, typ *dtype.Type) {
		n++
		want := fmt.Sprint(typ.Size())
		if _, extent := typ.Extent(); extent != typ.Size() {
			want = fmt.Sprintf("%d (extent %d)", typ.Size(), extent)
		}
		if listed[typ.Name()] != want {
			t.Errorf("%v is listed with %q, want %q", typ, listed[typ.Name()], want)
		}
	})
	if len(listed) != n {
		t.Errorf("%d types are listed of %d", len(listed), n)
	}
	if !strings.Contains(out.String(), "MPI_DOUBLE_INT (extent 16)") {
		t.Error("no extent of MPI_DOUBLE_INT")
	}
}
