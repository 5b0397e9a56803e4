package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	_ "image/jpeg" // so that image.Decode knows it
	"image/png"
	"io"
	"math"
	"os"
)

//go:embed picture.png
var defaultPicture []byte

// picture is a grid of brightness, 0 (black) to 255 (white), row by row.
type picture struct {
	w, h  int
	cells []float64
}

// maxCells bounds what a small file that claims to be huge can make us allocate:
// 2 GiB of float64.
const maxCells = 1 << 28

// load reads a PNG or JPEG; the empty name is the picture that comes with the program.
func load(name string) (picture, error) {
	var file io.ReadSeeker = bytes.NewReader(defaultPicture)
	if name != "" {
		f, err := os.Open(name)
		if err != nil {
			return picture{}, fmt.Errorf("heat: %w", err)
		}
		defer f.Close()
		file = f
	}
	pic, err := decode(file)
	if errors.Is(err, image.ErrFormat) {
		err = errors.New("neither PNG nor JPEG")
	}
	if err != nil {
		return pic, fmt.Errorf("heat: picture %s: %w", name, err)
	}
	return pic, nil
}

func decode(file io.ReadSeeker) (picture, error) {
	size, _, err := image.DecodeConfig(bufio.NewReader(file))
	if err != nil {
		return picture{}, err
	}
	if size.Width < 1 || size.Height < 1 || size.Width > maxCells/size.Height {
		return picture{}, fmt.Errorf("%d x %d pixels: want at least one and at most %d", size.Width, size.Height, maxCells)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return picture{}, err
	}
	img, _, err := image.Decode(bufio.NewReader(file))
	if err != nil {
		return picture{}, err
	}
	at := img.Bounds()
	pic := picture{w: at.Dx(), h: at.Dy(), cells: make([]float64, 0, at.Dx()*at.Dy())}
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			gray := color.Gray16Model.Convert(img.At(x, y)).(color.Gray16)
			pic.cells = append(pic.cells, float64(gray.Y)/257)
		}
	}
	return pic, nil
}

// save writes the picture as a PNG of 256 greys.
func save(name string, pic picture) error {
	img := image.NewGray(image.Rect(0, 0, pic.w, pic.h))
	for i, v := range pic.cells {
		img.Pix[i] = uint8(math.Round(min(max(v, 0), 255)))
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("heat: %w", err)
	}
	if err := errors.Join(png.Encode(f, img), f.Close()); err != nil {
		return fmt.Errorf("heat: writing %s: %w", name, err)
	}
	return nil
}

// part returns a copy of the cells with x0 <= x < x1 and y0 <= y < y1, row by row.
func (p picture) part(x0, y0, x1, y1 int) []float64 {
	cells := make([]float64, 0, (x1-x0)*(y1-y0))
	for y := y0; y < y1; y++ {
		cells = append(cells, p.cells[y*p.w+x0:y*p.w+x1]...)
	}
	return cells
}

// setPart puts rows of w cells each at (x0, y0).
func (p picture) setPart(cells []float64, x0, y0, w int) {
	for y := y0; len(cells) > 0; y++ {
		copy(p.cells[y*p.w+x0:], cells[:w])
		cells = cells[w:]
	}
}

// checksum depends on every bit of every cell.
func (p picture) checksum() uint64 {
	sum := fnv.New64a()
	var b [8]byte
	for _, v := range p.cells {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		sum.Write(b[:])
	}
	return sum.Sum64()
}
