package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func random(w, h int) picture {
	r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	pic := picture{w: w, h: h, cells: make([]float64, w*h)}
	for i := range pic.cells {
		pic.cells[i] = 255 * r.Float64()
	}
	return pic
}

// TestBlocksEqualSerialBitForBit runs pictures of all proportions, also with
// fewer rows, columns or cells than ranks.
func TestBlocksEqualSerialBitForBit(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {7, 1}, {3, 2}, {13, 29}} {
		pic := random(size[0], size[1])
		for _, c := range []struct {
			steps int
			tol   float64
		}{{0, 0}, {1, 0}, {interval, 0}, {interval + 7, 0}, {10 * interval, 0.5}} {
			want, taken, residual := serial(pic, c.steps, c.tol)
			for _, n := range []int{1, 2, 3, 4, 6, 9} {
				fabrics := mpitest.Fabrics()
				for k, fabric := range fabrics {
					for how, by := range ways() {
						if way(how) != byMessages && (c.steps == 0 || c.steps == interval || n%2 == 1 || size[0] == size[1] || (how+n/2+k)%len(fabrics) != 0) {
							continue // edges are the same: fewer cases do, each over one fabric
						}
						name := fmt.Sprintf("%dx%d cells/%d steps/%d ranks/%s/%s", pic.w, pic.h, c.steps, n, fabric, by)
						t.Run(name, func(t *testing.T) {
							got, said := inProcess(t, fabric, n, pic, way(how), c.steps, c.tol)
							if !slices.Equal(bits(got), bits(want)) {
								t.Error("the cells differ from the serial ones")
							}
							if c.steps > 0 {
								line := fmt.Sprintf("step %5d  residual %.6f\n", taken, residual)
								if !strings.Contains(said, line) {
									t.Errorf("printed %q, want the line %q in it", said, line)
								}
							}
						})
					}
				}
			}
		}
	}
}

// inProcess runs the program without files, on n ranks of this process.
func inProcess(t *testing.T, fabric string, n int, pic picture, how way, steps int, tol float64) (picture, string) {
	t.Helper()
	var result picture
	var out bytes.Buffer // written by rank 0 only
	parts := cut(pic.w, pic.h, n)
	err := mpitest.RunOver(fabric, parts.ranks(), func(world *mpi.Comm) error {
		mine := pic
		if world.Rank() != 0 {
			mine.cells = nil // nobody else may need them
		}
		plate, err := parts.plate(world)
		if err != nil {
			return err
		}
		defer plate.Free()
		got, err := diffuse(plate, parts, mine, plan{halo: how, steps: steps, tol: tol, residual: math.Inf(1)}, &out)
		if world.Rank() == 0 {
			result = got
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return result, out.String()
}

func bits(p picture) []uint64 {
	b := make([]uint64, len(p.cells))
	for i, v := range p.cells {
		b[i] = math.Float64bits(v)
	}
	return b
}

func TestCutCoversEveryCellOnce(t *testing.T) {
	for w := 1; w <= 9; w++ {
		for h := 1; h <= 9; h++ {
			for n := 1; n <= 20; n++ {
				l := cut(w, h, n)
				if l.ranks() < 1 || l.ranks() > n {
					t.Fatalf("%d x %d on %d ranks: %d blocks", w, h, n, l.ranks())
				}
				owned := make([]int, w*h)
				for r := range l.ranks() {
					x0, y0, x1, y1 := l.bounds(r)
					if x0 >= x1 || y0 >= y1 {
						t.Fatalf("%d x %d on %d ranks: the block of rank %d is empty", w, h, n, r)
					}
					for y := y0; y < y1; y++ {
						for x := x0; x < x1; x++ {
							owned[y*w+x]++
						}
					}
				}
				if slices.Min(owned) != 1 || slices.Max(owned) != 1 {
					t.Fatalf("%d x %d on %d ranks: cells are owned %v times", w, h, n, owned)
				}
			}
		}
	}
}

// TestRunFromFileToFile runs the whole program, more ranks than pixels included.
func TestRunFromFileToFile(t *testing.T) {
	dir := t.TempDir()
	img := image.NewRGBA(image.Rect(-3, 5, 8, 8)) // an origin other than (0, 0)
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7)
	}
	for x := -3; x < 8; x++ {
		img.Set(x, 6, color.RGBA{uint8(20 * x), 90, 200, 255})
	}
	var asPNG, asJPEG bytes.Buffer
	if err := png.Encode(&asPNG, img); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, img, nil); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"a.png": asPNG.Bytes(), "a.jpg": asJPEG.Bytes(), "": defaultPicture} {
		pic, err := decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := serial(pic, 3, 0)
		in, out := "", filepath.Join(dir, "out.png")
		if name != "" {
			in = filepath.Join(dir, name)
			if err := os.WriteFile(in, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range []int{1, 2, 3, 4, 34} {
			if name == "" && n > 4 {
				continue
			}
			args := []string{"-steps", "3", "-tol", "0", "-o", out}
			if in != "" {
				args = append(args, in)
			}
			var said bytes.Buffer
			if err := mpi.Run(n, func(world *mpi.Comm) error { return run(world, args, &said) }); err != nil {
				t.Errorf("%q on %d ranks: %v", name, n, err)
				continue
			}
			if sum := fmt.Sprintf("checksum %016x\n", want.checksum()); !strings.Contains(said.String(), sum) {
				t.Errorf("%q on %d ranks printed %q, want %q in it", name, n, said.String(), sum)
			}
			f, err := os.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decode(f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range want.cells {
				if got.cells[i] != math.Round(v) {
					t.Fatalf("%q on %d ranks: cell %d of the file is %v, want %v", name, n, i, got.cells[i], math.Round(v))
				}
			}
		}
	}
}

func TestBadArgumentsSayWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.png")
	if err := os.WriteFile(text, []byte("not a picture"), 0o644); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(dir, "short.png")
	if err := os.WriteFile(short, defaultPicture[:len(defaultPicture)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	// The header of a PNG with 2^30 x 2^30 pixels (checksum included).
	huge := filepath.Join(dir, "huge.png")
	if err := os.WriteFile(huge, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x40\x00\x00\x00\x40\x00\x00\x00\x08\x00\x00\x00\x00\x7d\xff\xb1\x62"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no such file", []string{filepath.Join(dir, "none.png")}},
		{"text.png: neither PNG nor JPEG", []string{text}},
		{"short.png: ", []string{short}},
		{"huge.png: ", []string{huge}},
		{"-steps is -1", []string{"-steps", "-1"}},
		{"-restart has the picture", []string{"-restart", text, text}},
		{"none.ck: no such file", []string{"-restart", filepath.Join(dir, "none.ck")}},
		{"text.png is no checkpoint", []string{"-restart", text}},
		{"short.png is no checkpoint", []string{"-restart", short}},
		{"ck.part: no such file", []string{"-checkpoint", filepath.Join(dir, "none", "ck")}},
		{"-tol is NaN", []string{"-tol", "nan"}},
		{"one picture at a time", []string{text, text}},
		{"-frames", []string{"-frames", "7"}},
		{"want one of messages, rma-fence, rma-pscw, rma-lock, notify, sync-counters", []string{"-halo", "rma"}},
		{"invalid value \"x\"", []string{"-steps", "x"}},
		{"no such file", []string{"-steps", "0", "-o", filepath.Join(dir, "none", "out.png")}},
	} {
		err := mpi.Run(1, func(world *mpi.Comm) error { return run(world, c.args, io.Discard) })
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "heat: ") {
			t.Errorf("%q: error %v, want %q in it", c.args, err, c.want)
		}
	}
}

func TestHelpIsPrintedOnce(t *testing.T) {
	var said bytes.Buffer
	if err := mpi.Run(3, func(world *mpi.Comm) error { return run(world, []string{"-help"}, &said) }); err != nil {
		t.Fatal(err)
	}
	if strings.Count(said.String(), "Usage: heat") != 1 || !strings.Contains(said.String(), "-tol X") {
		t.Errorf("printed %q", said.String())
	}
}
