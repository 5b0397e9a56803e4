package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
)

// The picture shows the whole set: real parts from -2.25 to 0.75, as many units upwards as fit.
const left, across = -2.25, 3.0

// pixels are the colours of a row, as indices of the palette: 0 for points that are taken for part of the
// set, since they have not left the circle of radius 2 within the limit of iterations.
func (r row) pixels() []byte {
	unit := across / float64(r.Width)
	im := (float64(r.Height)/2 - float64(r.Y) - 0.5) * unit
	line := make([]byte, r.Width)
	for x := range line {
		if n := escape(left+(float64(x)+0.5)*unit, im, r.Iterations); n < r.Iterations {
			line[x] = byte(1 + n%255)
		}
	}
	return line
}

// escape is how many iterations the point takes to leave the circle, or the limit. The conversions keep
// compilers from fusing operations, so that every processor computes the same picture.
func escape(re, im float64, limit int) int {
	x, y := 0.0, 0.0
	for n := range limit {
		xx, yy := float64(x*x), float64(y*y)
		if xx+yy > 4 {
			return n
		}
		x, y = float64(xx-yy)+re, float64(2*x*y)+im
	}
	return limit
}

// write writes the picture as a PNG.
func write(o options, pixels []byte) error {
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	picture := &image.Paletted{Pix: pixels, Stride: o.width, Rect: image.Rect(0, 0, o.width, o.height), Palette: palette()}
	if err := png.Encode(f, picture); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// palette is black for the set, and turns from blue to yellow and back beside it.
func palette() color.Palette {
	all := color.Palette{color.Black}
	for i := range 255 {
		t := (1 - math.Cos(float64(i)/16)) / 2
		all = append(all, color.RGBA{uint8(255 * t), uint8(40 + 180*t), uint8(120 * (1 - t)), 255})
	}
	return all
}
