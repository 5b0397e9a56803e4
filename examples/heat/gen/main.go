// Command gen paints the picture that heat starts from when it is given none: a
// moon with its halo over mountains, 512 x 384 greys.
package main

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"os"
)

func main() {
	name := flag.String("o", "picture.png", "the `file` to write")
	flag.Parse()
	f, err := os.Create(*name)
	if err != nil {
		log.Fatal(err)
	}
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(f, paint()); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}

const (
	width, height = 512, 384
	moonX, moonY  = 300.0, 150.0
	moonRadius    = 30.0
	haloRadius    = 115.0
)

func paint() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, width, height))
	far, near := ridge(250, 46, 7), ridge(305, 34, 3)
	for y := range height {
		for x := range width {
			v := sky(float64(x), float64(y))
			switch {
			case float64(y) > near[x]:
				v = 8
			case float64(y) > far[x]:
				v = 34 + 0.14*float64(y-180) // mist lies in the valleys
			}
			img.SetGray(x, y, color.Gray{Y: uint8(math.Round(min(max(v, 0), 255)))})
		}
	}
	stars(img, far)
	return img
}

// sky is the light of the moon, its halo and the night.
func sky(x, y float64) float64 {
	r := math.Hypot(x-moonX, y-moonY)
	if r < moonRadius {
		return 250
	}
	night := 24 + 30*y/height
	glow := 90 * math.Exp(-(r-moonRadius)/22)
	// A halo is sharp inside and fades outwards.
	fade := 16.0
	if r < haloRadius {
		fade = 4
	}
	return night + glow + 150*math.Exp(-math.Pow((r-haloRadius)/fade, 2))
}

// ridge is the height of a line of mountains at every x: waves folded into peaks.
func ridge(base, amplitude float64, seed int) []float64 {
	line := make([]float64, width)
	for x := range line {
		y := base
		for octave := 1; octave <= 5; octave++ {
			scale := math.Exp2(float64(octave))
			phase := float64(seed*octave) * 1.7
			y -= amplitude / scale * 2 * (1 - 2*math.Abs(math.Sin(float64(x)*scale/230+phase)))
		}
		line[x] = y
	}
	return line
}

// stars strews points of light over the sky above the mountains; a linear
// congruential generator makes them the same on every machine.
func stars(img *image.Gray, far []float64) {
	seed := uint32(2)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	for range 160 {
		x, y, bright := next(width), next(height), uint8(120+next(136))
		clear := math.Hypot(float64(x)-moonX, float64(y)-moonY) > haloRadius+30
		if clear && float64(y) < far[x]-4 {
			img.SetGray(x, y, color.Gray{Y: bright})
			if bright > 220 {
				for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
					img.SetGray(x+d[0], y+d[1], color.Gray{Y: bright / 2})
				}
			}
		}
	}
}
