package mpi

import (
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/mem"
)

// checked is x, or in checking mode an error in its place if the type of x is not that of the view: its basic
// elements must be those of a whole number of elementary types. Bytes match any type. The engine tells
// other members of the error as of any other wrong argument.
func (f *File) checked(x file.Data) file.Data {
	if !f.c.checks() {
		return x
	}
	return f.checkedSlow(x)
}

func (f *File) checkedSlow(x file.Data) file.Data {
	if x.Type == nil || x.Err() != nil {
		return x
	}
	if err := f.f.View().Matches(x); err != nil {
		return file.Data{Mem: mem.Wrong(err)}
	}
	return x
}
