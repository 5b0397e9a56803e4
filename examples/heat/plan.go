package main

import (
	"math"

	"github.com/halo-mpi/halo/mpi"
)

// A plan is what rank 0 tells all others.
type plan struct {
	w, h     int // of the picture; 0 if there is nothing to do
	steps    int
	tol      float64
	halo     way
	step     int     // at which the computation begins
	residual float64 // after that step

	checkpoint, restart string // names of files, or ""
}

// begin reads what the computation begins with, on rank 0.
func begin(opt options) (pic picture, p plan, err error) {
	p = plan{steps: opt.steps, tol: opt.tol, halo: opt.halo, residual: math.Inf(1), checkpoint: opt.checkpoint, restart: opt.restart}
	if opt.restart != "" {
		var h header
		h, err = readHeader(opt.restart)
		pic = picture{w: int(h.W), h: int(h.H)}
		p.step, p.residual = int(h.Step), h.Residual
	} else {
		pic, err = load(opt.in)
	}
	p.w, p.h = pic.w, pic.h
	if err == nil {
		err = writable(opt.checkpoint)
	}
	return pic, p, err
}

// share returns the plan of rank 0 on all ranks.
func (p plan) share(world *mpi.Comm) (plan, error) {
	numbers := []int{p.w, p.h, p.steps, int(p.halo), p.step, len(p.checkpoint), len(p.restart)}
	if err := mpi.Bcast(world, numbers, 0); err != nil {
		return p, err
	}
	reals := []float64{p.tol, p.residual}
	if err := mpi.Bcast(world, reals, 0); err != nil {
		return p, err
	}
	names := make([]byte, numbers[5]+numbers[6])
	copy(names, p.checkpoint+p.restart)
	if err := mpi.Bcast(world, names, 0); err != nil {
		return p, err
	}
	return plan{
		w: numbers[0], h: numbers[1], steps: numbers[2], halo: way(numbers[3]), step: numbers[4],
		tol: reals[0], residual: reals[1],
		checkpoint: string(names[:numbers[5]]), restart: string(names[numbers[5]:]),
	}, nil
}
