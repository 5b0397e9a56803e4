package main

import (
	"math"
	"runtime"
	"time"
	"unsafe"
)

// unit is the length of what intervals are measured in: they are halved without rounding.
// Areas are measured in it, too, so that sums of them are exact, in any order.
const unit = 1.0 / (1 << 40)

// whole is the interval from 0 to 1.
var whole = task{0, 1 << 40}

// f has a peak that is hard to integrate: most tasks are intervals near it.
func f(x float64) float64 { return 1 / (1e-6 + (x-0.3)*(x-0.3)) / 1000 }

// exact is the integral of f from 0 to 1.
func exact() float64 { return (math.Atan(0.7e3) + math.Atan(0.3e3)) * 1e3 / 1000 }

// area integrates over t by Simpson's rule, and reports whether halving t changes little.
func (t task) area(tolerance float64) (units int64, good bool) {
	a, h := float64(t[0])*unit, float64(t[1])*unit
	fa, fm, fb := f(a), f(a+h/2), f(a+h)
	one := h / 6 * (fa + 4*fm + fb)
	two := h / 12 * (fa + 4*f(a+h/4) + 2*fm + 4*f(a+3*h/4) + fb)
	good = math.Abs(two-one) <= 15*tolerance*h || t[1] < 4
	return int64(math.Round((two + (two-one)/15) / unit)), good
}

func (t task) halves() (left, right task) {
	half := t[1] / 2
	return task{t[0], half}, task{t[0] + half, t[1] - half}
}

// result is what was found: the area in units, and how many parts it is the sum of.
type result struct{ area, parts int64 }

// serial integrates over t on one rank.
func serial(t task, tolerance float64) result {
	area, good := t.area(tolerance)
	if good {
		return result{area, 1}
	}
	left, right := t.halves()
	a, b := serial(left, tolerance), serial(right, tolerance)
	return result{a.area + b.area, a.parts + b.parts}
}

// work does tasks until none is open, and returns how many.
func (u *user) work(tolerance float64) (tasks int, err error) {
	for looks := 0; ; {
		t, ok, err := u.pop()
		if err != nil {
			return tasks, err
		}
		if !ok {
			if open, err := u.fetch(openWord); err != nil || open == 0 {
				return tasks, err
			}
			pause(looks)
			looks++
			continue
		}
		looks = 0
		found, err := u.do(t, tolerance)
		if err != nil {
			return tasks, err
		}
		if err := u.done(found.area, found.parts); err != nil {
			return tasks, err
		}
		tasks++
	}
}

// do integrates over t. If an interval must be halved, one half becomes a task of the queue, if
// that has room.
func (u *user) do(t task, tolerance float64) (found result, err error) {
	for {
		area, good := t.area(tolerance)
		if good {
			return result{found.area + area, found.parts + 1}, nil
		}
		left, right := t.halves()
		pushed, err := u.push(right)
		if err != nil {
			return found, err
		}
		if !pushed {
			s := serial(right, tolerance)
			found = result{found.area + s.area, found.parts + s.parts}
		}
		t = left
	}
}

// slice is the memory of one number as operations take it.
func slice(n *int64) []int64 { return unsafe.Slice(n, 1) }

// pause yields the core between two polls: there may be more goroutines than cores, on this
// rank and on others.
func pause(looks int) {
	if looks < 20 {
		runtime.Gosched()
		return
	}
	time.Sleep(min(time.Duration(looks)*time.Microsecond, 500*time.Microsecond))
}
