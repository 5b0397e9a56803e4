package sparse

import "slices"

// counts is the number of users of each offset, as a step function: a step begins at each of the
// offsets, in ascending order, the first at 0, and no two consecutive steps have the same height.
type counts []step

type step struct {
	off int64
	n   int32
}

// at returns the index of the step that contains off.
func (c counts) at(off int64) int {
	i, found := slices.BinarySearchFunc(c, off, func(s step, off int64) int {
		switch {
		case s.off < off:
			return -1
		case s.off > off:
			return 1
		}
		return 0
	})
	if found {
		return i
	}
	return i - 1
}

// cut makes a step begin at off, and returns its index. The step may be as high as the one before it.
func (c *counts) cut(off int64) int {
	if len(*c) == 0 {
		*c = append(*c, step{})
	}
	i := c.at(off)
	if (*c)[i].off != off {
		i++
		*c = slices.Insert(*c, i, step{off, (*c)[i-1].n})
	}
	return i
}

// add adds d to the count of each offset from off to end, without end.
func (c *counts) add(off, end int64, d int32) {
	if off >= end {
		return
	}
	i := c.cut(off)
	j := c.cut(end)
	for k := i; k < j; k++ {
		(*c)[k].n += d
	}
	// Only the steps that begin at off and at end can now be as high as the step before them.
	for _, k := range [...]int{j, i} {
		if k > 0 && (*c)[k].n == (*c)[k-1].n {
			*c = slices.Delete(*c, k, k+1)
		}
	}
}

// each calls f for each part of the range from off to end whose count is n, in ascending
// order, until f returns an error, which each returns.
func (c counts) each(off, end int64, n int32, f func(off, end int64) error) error {
	if off >= end {
		return nil
	}
	if len(c) == 0 {
		if n == 0 {
			return f(off, end)
		}
		return nil
	}
	for i := c.at(off); i < len(c) && c[i].off < end; i++ {
		to := end
		if i+1 < len(c) {
			to = min(to, c[i+1].off)
		}
		if c[i].n != n {
			continue
		}
		if err := f(max(off, c[i].off), to); err != nil {
			return err
		}
	}
	return nil
}
