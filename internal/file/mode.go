package file

import (
	"os"
	"strings"

	"github.com/halo-mpi/halo/internal/class"
)

// Mode is the access mode of a file, a sum of the constants below with the values of the ABI.
type Mode int

// The modes of section 14.2.1.
const (
	Append        Mode = 1
	Create        Mode = 2
	DeleteOnClose Mode = 4
	Excl          Mode = 8
	ReadOnly      Mode = 16
	ReadWrite     Mode = 32
	Sequential    Mode = 64
	UniqueOpen    Mode = 128
	WriteOnly     Mode = 256

	allModes = Append | Create | DeleteOnClose | Excl | ReadOnly | ReadWrite | Sequential | UniqueOpen | WriteOnly
)

func (m Mode) has(bits Mode) bool { return m&bits != 0 }

// String is the names of the constants that m is the sum of.
func (m Mode) String() string {
	var list []string
	for i, name := range []string{"MPI_MODE_APPEND", "MPI_MODE_CREATE", "MPI_MODE_DELETE_ON_CLOSE", "MPI_MODE_EXCL", "MPI_MODE_RDONLY",
		"MPI_MODE_RDWR", "MPI_MODE_SEQUENTIAL", "MPI_MODE_UNIQUE_OPEN", "MPI_MODE_WRONLY"} {
		if m.has(1 << i) {
			list = append(list, name)
		}
	}
	return strings.Join(list, "|")
}

// check returns an error if a file cannot be opened in this mode.
func (m Mode) check() error {
	ways := 0
	for _, way := range []Mode{ReadOnly, ReadWrite, WriteOnly} {
		if m.has(way) {
			ways++
		}
	}
	switch {
	case m&^allModes != 0:
		return class.Errorf(class.Amode, "access mode %d has bits that are no mode", int(m))
	case ways != 1:
		return class.Errorf(class.Amode, "access mode %v has %d of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY, want one", m, ways)
	case m.has(ReadOnly) && m.has(Create|Excl):
		return class.Errorf(class.Amode, "access mode %v: a file that is read only cannot be created", m)
	case m.has(ReadWrite) && m.has(Sequential):
		return class.Errorf(class.Amode, "access mode %v: sequential files are read or written, not both", m)
	}
	return nil
}

// flags are those of open(2); creating says that this process creates the file.
func (m Mode) flags(creating bool) int {
	flags := os.O_RDWR
	switch {
	case m.has(ReadOnly):
		flags = os.O_RDONLY
	case m.has(WriteOnly):
		flags = os.O_WRONLY
	}
	if creating && m.has(Create) {
		flags |= os.O_CREATE
		if m.has(Excl) {
			flags |= os.O_EXCL
		}
	}
	return flags
}
