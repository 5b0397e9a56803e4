package mpi

import (
	"fmt"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
)

// MaxDatarepString is the longest name of a data representation in bytes; the NUL of C does not count.
//
// C: MPI_MAX_DATAREP_STRING, section 14.5.3.
const MaxDatarepString = 127

// Datarep is the functions of a data representation of the program: a form that data has in files. They
// are called by goroutines that are in a call of this package, one that accesses a file or waits.
//
// Extent is the number of bytes that an element of a predefined type takes in the file. Read and Write
// convert count basic elements between the bytes of the file, where they follow each other, and the
// elements of the Buffer, from the basic element with number position on. A nil function says that
// the basic elements have the same form as in memory. An error of a function is ErrConversion.
//
// C: MPI_Datarep_conversion_function and MPI_Datarep_extent_function, section 14.5.3.
type Datarep struct {
	Extent      func(basic Datatype) (int, error)
	Read, Write func(b Buffer, file []byte, count, position int) error
}

// datareps are the representations of the program, by name.
type datareps struct {
	mu   sync.Mutex
	list map[string]*file.Representation
}

// find returns a representation, nil if there is none of that name.
func (d *datareps) find(name string) *file.Representation {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.list[name]
}

// RegisterDatarep gives a data representation a name, by which SetView knows it, in this process; it
// lasts until the process ends. ErrDupDatarep if the name is taken, ErrArg if it is too long or there
// is no function Extent. Errors go to the default error handler of files.
//
// C: MPI_Register_datarep and MPI_Register_datarep_c, section 14.5.3.
func RegisterDatarep(c *Comm, name string, functions Datarep) error {
	const k = call.RegisterDatarep
	if err := c.usable(k); err != nil {
		return err
	}
	raise := func(err error) error { return noFile(c).wrong(err, k, name) }
	switch {
	case name == "" || len(name) > MaxDatarepString:
		return raise(class.Errorf(class.Arg, "name of %d bytes, want 1 to %d", len(name), MaxDatarepString))
	case functions.Extent == nil:
		return raise(class.Errorf(class.Arg, "no function for the extents in the file"))
	}
	d := &current.datareps
	d.mu.Lock()
	taken := d.list[name] != nil || name == file.Native || name == file.Internal || name == file.External32
	if !taken {
		if d.list == nil {
			d.list = make(map[string]*file.Representation)
		}
		d.list[name] = functions.engine(name)
	}
	d.mu.Unlock()
	if taken {
		return raise(class.Errorf(class.DupDatarep, "there is a data representation %q", name))
	}
	return nil
}

// Origin is the address of displacement 0 of the first element of a Buffer.
//
// C: none; for bindings, whose conversion functions get the address.
func (internals) Origin(b Buffer) uintptr { return b.b.Origin() }

// engine is the representation with functions of the engine's types.
func (d Datarep) engine(name string) *file.Representation {
	convert := func(f func(b Buffer, file []byte, count, position int) error) func(*dtype.Buffer, []byte, int64, int64) error {
		if f == nil {
			return nil
		}
		return func(b *dtype.Buffer, file []byte, count, position int64) error {
			return f(Buffer{b: *b, h: handleOf(b.Type()).h}, file, int(count), int(position))
		}
	}
	return &file.Representation{
		Name: name,
		Extent: func(basic *dtype.Type) (int64, error) {
			n, err := d.Extent(types().lasting(basic))
			if err == nil && n < 0 {
				err = fmt.Errorf("%d bytes", n)
			}
			if err != nil {
				return 0, class.Errorf(class.Conversion, "extent function of data representation %q for %s: %v", name, basic, err)
			}
			return int64(n), nil
		},
		Read: convert(d.Read), Write: convert(d.Write),
	}
}
