package rma

import (
	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// applyDynamic carries out an access of the view to memory of t, of pathDynamic, or of a handle. It
// reports false if the memory is not mapped here.
func (v *View) applyDynamic(t *target, a *operation.Op, off uint64, lo, hi int64) (bool, error) {
	if v.handle != nil {
		return v.handle.apply(a, off)
	}
	return t.applyFound(a, off, lo, hi, false)
}

// applyFound carries out an access to memory of t, of pathDynamic, which reaches bytes lo to hi
// from the address on. It reports false, and has done nothing, if the memory is not mapped here or
// the access must go by frames. locked says that the lock is held.
func (t *target) applyFound(a *operation.Op, addr uint64, lo, hi int64, locked bool) (bool, error) {
	f, err := t.find(addr+uint64(lo), addr+uint64(hi), locked)
	switch {
	case err != nil:
		return false, err
	case a.Kind >= operation.Accumulate && t.viaFrames.Load() && !planted.DetourLeft:
		return false, nil
	case f != nil:
		if !f.mapped {
			if f.mixed && a.Kind >= operation.Accumulate && !planted.DetourLeft {
				t.viaFrames.Store(true)
			}
			return false, nil
		}
		return true, a.Apply(&f.region, int64(addr-f.lo))
	case a.Place.Type == nil:
		return false, t.unattached(addr, uint64(hi), locked)
	}
	made, err := t.applyRegions(a, addr, locked)
	if !made && err == nil && a.Kind >= operation.Accumulate {
		t.viaFrames.Store(true)
	}
	return made, err
}

// attached returns an error unless all memory that an access reaches is attached.
func (t *target) attached(a *operation.Op, addr uint64, lo, hi int64) error {
	if f, err := t.find(addr+uint64(lo), addr+uint64(hi), false); f != nil || err != nil {
		return err
	}
	if a.Place.Type == nil {
		return t.unattached(addr, uint64(hi), false)
	}
	b, err := dtype.At(nil, a.Place.Type, a.Place.Count)
	if err != nil {
		return err
	}
	return operation.EachRun(&b, 0, a.Size(), func(x dtype.Run) error {
		_, err := t.regionOf(addr+uint64(x.Off), uint64(x.Len), false)
		return err
	})
}

// find is lookup with or without the lock held.
func (t *target) find(lo, hi uint64, locked bool) (*foundRegion, error) {
	if locked {
		return t.lookupLocked(lo, hi)
	}
	return t.lookup(lo, hi)
}

// unattached is the error of an access to n bytes at an address of which some are not attached.
func (t *target) unattached(addr, n uint64, locked bool) error {
	gap := addr
	for f, err := t.find(gap, gap+1, locked); err == nil && f != nil && f.hi > gap; f, err = t.find(gap, gap+1, locked) {
		gap = f.hi // a region of a table that is changing may end anywhere
	}
	if gap == addr || gap-addr >= n {
		return class.Errorf(class.RMARange, "%d bytes at address %#x are not attached at rank %d", n, addr, t.Rank)
	}
	return class.Errorf(class.RMARange, "%d bytes at address %#x are not attached at rank %d: %d of them are, nothing is at %#x", n, addr, t.Rank, gap-addr, gap)
}

// applyRegions carries out an access whose runs are in several regions of t, of pathDynamic, run by
// run. It reports false, and has done nothing, if some of these are not mapped here; the error is
// that of runs that are not attached. locked says that the lock is held.
func (t *target) applyRegions(a *operation.Op, addr uint64, locked bool) (bool, error) {
	b, err := dtype.At(nil, a.Place.Type, a.Place.Count) // only its runs are used
	if err != nil {
		return false, err
	}
	mapped := true
	err = operation.EachRun(&b, 0, a.Size(), func(x dtype.Run) error {
		f, err := t.regionOf(addr+uint64(x.Off), uint64(x.Len), locked)
		mapped = mapped && f != nil && f.mapped
		return err
	})
	if err != nil || !mapped {
		return false, err
	}
	err = a.ApplyRuns(&b, func(x dtype.Run) (*apply.Region, int64, error) {
		from := addr + uint64(x.Off)
		f, err := t.regionOf(from, uint64(x.Len), locked)
		if err != nil {
			return nil, 0, err
		}
		return &f.region, int64(from - f.lo), nil
	})
	return err == nil, err
}

// regionOf is find of n bytes, with an error if some are not attached.
func (t *target) regionOf(addr, n uint64, locked bool) (*foundRegion, error) {
	f, err := t.find(addr, addr+n, locked)
	if f == nil && err == nil {
		err = t.unattached(addr, n, locked)
	}
	return f, err
}
