package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestEveryRankSaysHelloOnce(t *testing.T) {
	for n := 1; n <= 4; n++ {
		var want []string
		for rank := range n {
			want = append(want, fmt.Sprintf("Hello from rank %d of %d on %s", rank, n, mpi.GetProcessorName()))
		}
		for _, fabric := range mpitest.Fabrics() {
			out := printed(t, func() error { return mpitest.RunOver(fabric, n, hello) })
			got := strings.Split(strings.TrimSpace(out), "\n")
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%d ranks over %s printed %q, want %q", n, fabric, got, want)
			}
		}
	}
}

// printed returns what fn writes to standard output; more than a pipe holds
// would block.
func printed(t *testing.T, fn func() error) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func(out *os.File) { os.Stdout = out }(os.Stdout)
	os.Stdout = w
	if err := fn(); err != nil {
		t.Error(err)
	}
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
