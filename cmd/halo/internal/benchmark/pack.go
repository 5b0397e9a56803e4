package benchmark

import "github.com/halo-mpi/halo/mpi"

// packing measures pack or unpack for one size and all layouts.
func packing(world *mpi.Comm, p *Plan, size int, report *Report) error {
	n := size / 8
	list, err := layouts(n)
	if err != nil {
		return err
	}
	memory, wire := make([]float64, depth*n), make([]byte, size)
	for i := range memory {
		memory[i] = 1 // see written
	}
	for _, l := range list {
		b := mpi.BufOf(memory, l.count, l.typ) // made once, like a committed type
		pack := func(n int) error {
			for range n {
				if _, err := mpi.Pack(wire[:0], b); err != nil {
					return err
				}
			}
			return nil
		}
		unpack := func(n int) error {
			for range n {
				if _, err := mpi.Unpack(wire, b); err != nil {
					return err
				}
			}
			return nil
		}
		body := pack
		if p.Name == "unpack" {
			if err := pack(1); err != nil {
				return err
			}
			body = unpack
		}
		us, err := p.measure(world, body)
		if err != nil {
			return err
		}
		r := Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: size, Layout: l.name, US: us}
		if err := report.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// A layout is a layout of memory for pack and unpack.
type layout struct {
	name  string
	typ   mpi.Datatype
	count int // elements of typ
}

// depth is the extent of the array across the face that is packed.
const depth = 32

// particle is an element of the array of structs: 32 bytes, and 8 of padding.
type particle struct {
	ID   int32
	X    [3]float64
	Mass float32
}

// layouts returns layouts of n doubles, or of as many bytes, within memory of depth * n doubles.
func layouts(n int) ([]layout, error) {
	rows, columns := n, 1
	for rows%2 == 0 && rows > columns {
		rows, columns = rows/2, columns*2
	}
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		return nil, err
	}
	var list []layout
	add := func(name string, count int, typ mpi.Datatype, failed error) {
		if err == nil {
			err = failed
		}
		if err == nil {
			err = typ.Commit()
		}
		list = append(list, layout{name, typ, count})
	}
	t, failed := mpi.TypeContiguous(n, double)
	add("contiguous", 1, t, failed)
	t, failed = mpi.TypeVector(n, 1, 2, double)
	add("vector 1/2", 1, t, failed)
	t, failed = mpi.TypeVector(n/8, 8, 16, double)
	add("vector 8/16", 1, t, failed)
	t, failed = mpi.TypeSubarray([]int{rows, depth, columns}, []int{rows, 1, columns}, []int{0, depth / 2, 0}, mpi.OrderC, double)
	add("face of rows", 1, t, failed)
	t, failed = mpi.TypeSubarray([]int{rows, columns, depth}, []int{rows, columns, 1}, []int{0, 0, depth / 2}, mpi.OrderC, double)
	add("face of words", 1, t, failed)
	t, failed = mpi.TypeOf[particle]()
	add("structs", n/4, t, failed)
	return list, err
}
