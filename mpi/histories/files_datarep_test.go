package histories_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/mpi"
)

// Data representations of the program. In a file each basic element has all its bits inverted, and a stamped one
// follows a byte that is the same for all. There is one of each kind for each basic type, since the functions get no
// types of basic elements.
const (
	inverted = "inverted"
	stamped  = "stamped"
	stamp    = 0x5c
)

// registered is the representation of a kind for a basic type.
func registered(kind string, basic dtype.ID) string { return fmt.Sprintf("%s-%d", kind, basic) }

// repKind is the kind of a representation of the program, and the name of any other one.
func repKind(rep string) string {
	kind, _, _ := strings.Cut(rep, "-")
	return kind
}

// converts reports whether data has another form in files of a representation than in memory.
func converts(rep string) bool {
	return rep == external32 || repKind(rep) == inverted || repKind(rep) == stamped
}

// stamps is how many bytes precede an element in a file of a representation.
func stamps(rep string) int64 {
	if repKind(rep) == stamped {
		return 1
	}
	return 0
}

// toFile is the form in files of data that consists of elements of n bytes.
func toFile(rep string, n int64, data []byte) (out []byte) {
	for e := range slices.Chunk(data, int(n)) {
		for range stamps(rep) {
			out = append(out, stamp)
		}
		for _, b := range e {
			out = append(out, ^b)
		}
	}
	return out
}

// fromFile is the data of whole elements of n bytes in a file, whatever their stamps are.
func fromFile(rep string, n int64, file []byte) (data []byte) {
	for at := stamps(rep); at+n <= int64(len(file)); at += n + stamps(rep) {
		for _, b := range file[at : at+n] {
			data = append(data, ^b)
		}
	}
	return data
}

// canonical is what elements in a file are if they have the stamps that the representation gives them.
func canonical(v *fileView, file []byte) []byte {
	if v.rep == external32 || !converts(v.rep) {
		return file
	}
	n := inFile(v.basic, "native")
	return toFile(v.rep, n, fromFile(v.rep, n, file))
}

var registerOnce sync.Once

// register registers all representations.
func register(world *mpi.Comm) (err error) {
	registerOnce.Do(func() {
		for _, basic := range fileBasics() {
			for _, kind := range []string{inverted, stamped} {
				rep, n := registered(kind, basic), types.Type(basic).Size()
				functions := mpi.Datarep{
					Extent: func(d mpi.Datatype) (int, error) {
						n, err := d.Size()
						return n + int(stamps(rep)), err
					},
					Write: func(b mpi.Buffer, file []byte, count, position int) error {
						all, err := mpi.Pack(nil, b)
						copy(file, toFile(rep, n, all[position*int(n):(position+count)*int(n)]))
						return err
					},
					Read: func(b mpi.Buffer, file []byte, count, position int) error {
						all, err := mpi.Pack(nil, b)
						if err == nil {
							copy(all[position*int(n):], fromFile(rep, n, file)[:count*int(n)])
							_, err = mpi.Unpack(all, b)
						}
						return err
					},
				}
				err = mpi.RegisterDatarep(world, rep, functions)
				if err != nil {
					return
				}
			}
		}
	})
	return err
}
