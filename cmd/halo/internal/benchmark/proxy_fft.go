package benchmark

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

const (
	fftSide   = 32
	fftRounds = 60
	fftOff    = 1e-6
	fftCos    = 0.98078528040323044913 // of a 32nd of a circle
	fftSin    = 0.19509032201612826785
)

// fftWave is the number of waves in the directions z, y and x.
func fftWave() [3]int { return [3]int{7, 5, 3} }

// fourier is a Fourier transform in three dimensions: see bench/proxy_fft.h. Numbers are complex. The order of cube
// is z, y, x, this rank having some z; the order of turned is the same, this rank having some y.
type fourier struct {
	world                *mpi.Comm
	planes               int
	cube, turned, packed []float64
	root                 [2 * fftSide]float64
	reversed             [fftSide]int
}

func newFourier(world *mpi.Comm) (*fourier, error) {
	if fftSide%world.Size() != 0 {
		return nil, fmt.Errorf("%d ranks do not divide %d", world.Size(), fftSide)
	}
	f := &fourier{world: world, planes: fftSide / world.Size()}
	n := 2 * f.planes * fftSide * fftSide
	f.cube, f.turned, f.packed = written[float64](n), written[float64](n), written[float64](n)
	re, im := 1.0, 0.0
	for i := range fftSide {
		f.root[2*i], f.root[2*i+1] = re, -im
		re, im = re*fftCos-im*fftSin, re*fftSin+im*fftCos
		f.reversed[i] = i&1<<4 | i&2<<2 | i&4 | i&8>>2 | i&16>>4
	}
	return f, nil
}

func (f *fourier) close() error { return nil }

// line transforms a line whose numbers are stride apart; way is 1, or -1 for the inverse.
func (f *fourier) line(line []float64, stride int, way float64) {
	const mask = fftSide - 1 // it shows the compiler that indices are in range
	var re, im [fftSide]float64
	scale := 1.0
	if way < 0 {
		scale = 1.0 / fftSide
	}
	for i, to := range f.reversed {
		re[to&mask], im[to&mask] = line[2*stride*i], line[2*stride*i+1]
	}
	for half, step := 1, fftSide; half < fftSide; half, step = half*2, step/2 {
		for k := range half {
			cosine, sine := f.root[step*k&(2*mask)], way*f.root[step*k&(2*mask)+1]
			for i := k; i < fftSide; i += 2 * half {
				j := (i + half) & mask
				x, y := re[j]*cosine-im[j]*sine, re[j]*sine+im[j]*cosine
				re[j], im[j] = re[i]-x, im[i]-y
				re[i] += x
				im[i] += y
			}
		}
	}
	for i := range fftSide {
		line[2*stride*i], line[2*stride*i+1] = re[i]*scale, im[i]*scale
	}
}

// linesOfPlanes transforms the lines in the planes of this rank.
func (f *fourier) linesOfPlanes(way float64) {
	for z := range f.planes {
		plane := f.cube[2*z*fftSide*fftSide:][:2*fftSide*fftSide]
		for y := range fftSide {
			f.line(plane[2*y*fftSide:], 1, way)
		}
		for x := range fftSide {
			f.line(plane[2*x:], fftSide, way)
		}
	}
}

// turnedLines transforms those of the third direction.
func (f *fourier) turnedLines(way float64) {
	n := f.planes * fftSide
	for i := range n {
		f.line(f.turned[2*i:], n, way)
	}
}

// transpose brings the numbers from cube to turned. A block for a rank has its y of all z here.
func (f *fourier) transpose() error {
	f.eachPiece(func(packed, cube []float64) { copy(packed, cube) })
	return mpi.Alltoall(f.world, f.packed, f.turned)
}

// transposeBack brings the numbers from turned to cube.
func (f *fourier) transposeBack() error {
	err := mpi.Alltoall(f.world, f.turned, f.packed)
	f.eachPiece(func(packed, cube []float64) { copy(cube, packed) })
	return err
}

// eachPiece calls fn with the places of all pieces that are adjacent in both orders.
func (f *fourier) eachPiece(fn func(packed, cube []float64)) {
	piece := 2 * f.planes * fftSide
	for r := range f.world.Size() {
		for z := range f.planes {
			fn(f.packed[(r*f.planes+z)*piece:][:piece], f.cube[2*z*fftSide*fftSide+r*piece:][:piece])
		}
	}
}

// off reports whether the number at that place differs from another one.
func off(at []float64, re, im float64) bool {
	x, y := at[0]-re, at[1]-im
	return !(x < fftOff && x > -fftOff && y < fftOff && y > -fftOff)
}

// eachNumber calls fn with the place of each number of this rank, and the number of the wave there.
func (f *fourier) eachNumber(fn func(at []float64, re, im float64)) {
	wave, at := fftWave(), f.cube
	for z := f.world.Rank() * f.planes; z < (f.world.Rank()+1)*f.planes; z++ {
		for y := range fftSide {
			for x := range fftSide {
				phase := (wave[0]*z + wave[1]*y + wave[2]*x) % fftSide
				fn(at[:2], f.root[2*phase], -f.root[2*phase+1])
				at = at[2:]
			}
		}
	}
}

// pointIsOff reports whether this rank has the point of the transform, and it is wrong.
func (f *fourier) pointIsOff() bool {
	wave := fftWave()
	y := wave[1] - f.world.Rank()*f.planes
	if y < 0 || y >= f.planes {
		return false
	}
	return off(f.turned[2*((wave[0]*f.planes+y)*fftSide+wave[2]):], fftSide*fftSide*fftSide, 0)
}

func (f *fourier) run() error {
	wrong := uint64(0)
	f.eachNumber(func(at []float64, re, im float64) { at[0], at[1] = re, im })
	for range fftRounds {
		f.linesOfPlanes(1)
		if err := f.transpose(); err != nil {
			return err
		}
		f.turnedLines(1)
		if f.pointIsOff() {
			wrong++
		}
		f.turnedLines(-1)
		if err := f.transposeBack(); err != nil {
			return err
		}
		f.linesOfPlanes(-1)
	}
	f.eachNumber(func(at []float64, re, im float64) {
		if off(at, re, im) {
			wrong++
		}
	})
	return expectTotal(f.world, wrong, 0)
}
