package benchmark

import "github.com/halo-mpi/halo/mpi"

// maxPart is the longest edge of the part of an array for which the benchmark type makes datatypes;
// the array has wholeArray elements along each edge.
const maxPart, wholeArray, partStart = 90, 100, 5

// typing measures the cost of a datatype that is made for one transfer, and of queries about it.
func typing(world *mpi.Comm, p *Plan, size int, report *Report) error {
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		return err
	}
	whole, part, starts := []int{wholeArray, wholeArray}, []int{size, size}, []int{partStart, partStart}
	make := func() (mpi.Datatype, error) {
		d, err := mpi.TypeSubarray(whole, part, starts, mpi.OrderC, double)
		if err == nil {
			err = d.Commit()
		}
		return d, err
	}
	d, err := make()
	if err != nil {
		return err
	}
	for _, x := range []struct {
		what string
		once func() error
	}{
		{"made", func() error {
			d, err := make()
			if err != nil {
				return err
			}
			return d.Free()
		}},
		{"size", func() error { _, err := d.Size(); return err }},
		{"extent", func() error { _, _, err := d.Extent(); return err }},
		{"true extent", func() error { _, _, err := d.TrueExtent(); return err }},
	} {
		us, err := p.measure(world, func(n int) error {
			for range n {
				if err := x.once(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r := Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: size, Layout: x.what, US: us}
		if err := report.Add(r); err != nil {
			return err
		}
	}
	return d.Free()
}
