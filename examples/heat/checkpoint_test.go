package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// greys writes a picture of 11 x 9 pixels to a file, and returns its path and what it has.
func greys(t *testing.T) (string, picture) {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 11, 9))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i * 7)
	}
	var data bytes.Buffer
	if err := png.Encode(&data, img); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "picture.png")
	if err := os.WriteFile(path, data.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	pic, err := decode(bytes.NewReader(data.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return path, pic
}

// TestAnyNumberOfRanksContinues: from the checkpoint of any number of ranks any other number computes the
// bits that a run without interruption does, and stops at the same step when nothing changes any more.
func TestAnyNumberOfRanksContinues(t *testing.T) {
	in, pic := greys(t)
	dir := t.TempDir()
	ck, out := filepath.Join(dir, "ck"), filepath.Join(dir, "out.png")
	on := func(fabric string, n int, args ...string) string {
		t.Helper()
		var said bytes.Buffer // written by rank 0 only
		args = append([]string{"-o", out}, args...)
		if err := mpitest.RunOver(fabric, n, func(world *mpi.Comm) error { return run(world, args, &said) }); err != nil {
			t.Errorf("heat %q on %d ranks over %s: %v", args, n, fabric, err)
		}
		return said.String()
	}
	var first []byte
	for _, fabric := range mpitest.Fabrics() {
		for _, n := range []int{1, 3, 4} {
			// Step 130 is no multiple of the interval: the checkpoint is of step 100.
			on(fabric, n, "-tol", "0", "-steps", "130", "-checkpoint", ck, in)
			data, err := os.ReadFile(ck)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = data
			}
			if !bytes.Equal(data, first) {
				t.Errorf("%d ranks over %s write another checkpoint", n, fabric)
			}
			if _, err := os.Stat(unfinished(ck)); err == nil {
				t.Errorf("%d ranks over %s leave %s", n, fabric, unfinished(ck))
			}
			for _, c := range []struct {
				steps int
				tol   string
				limit float64
			}{{100, "0", 0}, {177, "0", 0}, {5000, "0.01", 0.01}} {
				want, taken, residual := serial(pic, c.steps, c.limit)
				said := on(fabric, 5-n, "-restart", ck, "-tol", c.tol, "-steps", fmt.Sprint(c.steps), "-halo", "rma-fence")
				if sum := fmt.Sprintf("%d steps of 11 x 9 cells", taken-100); !strings.Contains(said, sum) {
					t.Errorf("%d ranks, then %d over %s printed %q, want %q in it", n, 5-n, fabric, said, sum)
				}
				if sum := fmt.Sprintf("checksum %016x\n", want.checksum()); !strings.Contains(said, sum) {
					t.Errorf("%d ranks, then %d over %s: %q, want %q after step %d, residual %v", n, 5-n, fabric, said, sum, taken, residual)
				}
			}
		}
	}
}

// TestCheckpointsOfAnotherLengthAreRefused, so that a file that was cut is not taken for a black picture.
func TestCheckpointsOfAnotherLengthAreRefused(t *testing.T) {
	in, _ := greys(t)
	dir := t.TempDir()
	ck := filepath.Join(dir, "ck")
	args := []string{"-steps", "50", "-tol", "0", "-checkpoint", ck, "-o", filepath.Join(dir, "out.png"), in}
	if err := mpi.Run(2, func(world *mpi.Comm) error { return run(world, args, new(bytes.Buffer)) }); err != nil {
		t.Fatal(err)
	}
	if h, err := readHeader(ck); err != nil || h.W != 11 || h.H != 9 || h.Step != 50 {
		t.Errorf("%+v, %v", h, err)
	}
	if err := os.Truncate(ck, headerSize+8*11*9-1); err != nil {
		t.Fatal(err)
	}
	if _, err := readHeader(ck); err == nil || !strings.Contains(err.Error(), "831 bytes, which do not fit to a picture of 11 x 9") {
		t.Errorf("a checkpoint that was cut: %v", err)
	}
}
