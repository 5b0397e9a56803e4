package main

import "math"

// serial is the whole computation in one grid, without blocks or halos: the
// neighbour of a cell outside the picture is the cell itself.
func serial(pic picture, steps int, tol float64) (result picture, taken int, residual float64) {
	w, h := pic.w, pic.h
	old, residual := append([]float64(nil), pic.cells...), math.Inf(1)
	for taken < steps && residual > tol {
		next := make([]float64, w*h)
		largest := 0.0
		for y := range h {
			for x := range w {
				at := func(x, y int) float64 { return old[min(max(y, 0), h-1)*w+min(max(x, 0), w-1)] }
				mid := at(x, y)
				flow := (at(x, y-1) + at(x, y+1)) + (at(x-1, y) + at(x+1, y)) - 4*mid
				change := float64(conductivity * flow)
				next[y*w+x] = mid + change
				largest = max(largest, math.Abs(change))
			}
		}
		old = next
		taken++
		if taken%interval == 0 || taken == steps {
			residual = largest
		}
	}
	return picture{w, h, old}, taken, residual
}
