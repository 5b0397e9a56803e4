package main

import (
	"bytes"
	"errors"
	"image/png"
	"io"
	"io/fs"
	"math/cmplx"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// The picture is the same, byte by byte, on any number of ranks, and so is the checksum.
func TestPicturesAreThatOfOneRank(t *testing.T) {
	dir := t.TempDir()
	checksum := regexp.MustCompile(`checksum [0-9a-f]{16},`)
	draw := func(fabric string, n int) (picture []byte, sum string) {
		var out bytes.Buffer
		o := options{60, 41, 300, filepath.Join(dir, "out.png")}
		if err := mpitest.RunOver(fabric, n, func(world *mpi.Comm) error { return run(world, o, &out) }); err != nil {
			t.Fatal(err)
		}
		picture, err := os.ReadFile(o.out)
		if err != nil {
			t.Fatal(err)
		}
		return picture, checksum.FindString(out.String())
	}
	want, sum := draw("inproc", 1)
	if sum == "" {
		t.Fatal("no checksum")
	}
	for _, fabric := range mpitest.Fabrics() {
		for n := 1; n <= 4; n++ {
			got, s := draw(fabric, n)
			if !bytes.Equal(got, want) || s != sum {
				t.Errorf("%d ranks over %s: %s, want %s, and the same picture", n, fabric, s, sum)
			}
		}
	}
	picture, err := png.Decode(bytes.NewReader(want))
	if err != nil || picture.Bounds().Dx() != 60 || picture.Bounds().Dy() != 41 {
		t.Errorf("picture: %v", err)
	}
}

// Points of the set are black, and no others: complex numbers are iterated here.
func TestPixelsAreThoseOfTheSet(t *testing.T) {
	r := row{Width: 75, Height: 50, Iterations: 200}
	for r.Y = range r.Height {
		for x, got := range r.pixels() {
			c := complex(left+(float64(x)+0.5)*across/75, (25-float64(r.Y)-0.5)*across/75)
			z, n := complex128(0), 0
			for ; n < r.Iterations && cmplx.Abs(z) <= 2; n++ {
				z = z*z + c
			}
			if inside := n == r.Iterations; inside != (got == 0) {
				t.Errorf("pixel %d of row %d is %d, and %v leaves after %d iterations", x, r.Y, got, c, n)
			}
		}
	}
}

// What cannot be drawn or written is an error of rank 0.
func TestBadOptions(t *testing.T) {
	for want, o := range map[string]options{
		"mandelbrot: -width is 0, -height is 1 and -iterations is 1: want 1 at least": {0, 1, 1, "out.png"},
		"mandelbrot: open none": {1, 1, 1, filepath.Join("none", "out.png")},
	} {
		err := mpi.Run(2, func(world *mpi.Comm) error {
			err := run(world, o, io.Discard)
			if world.Rank() == 0 {
				return err
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), want) || o.width > 0 && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
