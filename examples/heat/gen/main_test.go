package main

import (
	"image/png"
	"os"
	"testing"
)

// TestPictureIsWhatThisProgramPaints allows one grey of difference: processors
// round the last bit of a sine differently.
func TestPictureIsWhatThisProgramPaints(t *testing.T) {
	f, err := os.Open("../picture.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kept, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	painted := paint()
	if kept.Bounds() != painted.Bounds() {
		t.Fatalf("kept %v, painted %v", kept.Bounds(), painted.Bounds())
	}
	for y := range height {
		for x := range width {
			got, _, _, _ := kept.At(x, y).RGBA()
			want := painted.GrayAt(x, y).Y
			if d := int(got>>8) - int(want); d < -1 || d > 1 {
				t.Fatalf("(%d, %d) is %d in the kept picture, painted %d: run go generate ./examples/heat", x, y, got>>8, want)
			}
		}
	}
}
