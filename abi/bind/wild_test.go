package bind

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/abi"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// wildness is a set of invalid arguments for calls of every procedure.
type wildness struct {
	name      string
	handle    func(base string) handle // returns the value of a handle argument
	number    int64
	addresses bool   // addresses are of memory; otherwise they are null
	fill      uint64 // contents of that memory
}

var wildnesses = []wildness{
	{name: "nothing", handle: func(string) handle { return 0 }},
	{name: "wild handles and no results", handle: func(string) handle { return 0xdeadbeef0 }, number: 3},
	{name: "wild handles", handle: func(string) handle { return 0xdeadbeef0 }, number: 3, addresses: true, fill: 0xdeadbeef0},
	{name: "handles of other kinds", handle: otherKind, number: 1, addresses: true, fill: uint64(commSelf)},
	{name: "null handles", handle: nullOf, number: 2, addresses: true},
	{name: "negative numbers", handle: rightKind, number: -77, addresses: true},
	{name: "negative numbers and no addresses", handle: rightKind, number: -77},
}

func otherKind(base string) handle {
	if base == "MPI_Comm" {
		return 0x209 // a datatype
	}
	return commSelf
}

func nullOf(base string) handle {
	return map[string]handle{"MPI_Comm": commNull, "MPI_Win": winNull, "MPI_Datatype": typeNull, "MPI_Op": opNull,
		"MPI_Request": requestNull, "MPI_Errhandler": errhandlerNull}[base]
}

func rightKind(base string) handle {
	switch base {
	case "MPI_Comm":
		return commSelf
	case "MPI_Datatype":
		return 0x209
	case "MPI_Errhandler":
		return errorsReturn
	}
	return nullOf(base)
}

// Each procedure of the table, called with invalid arguments, returns success or an error class.
// Procedures that the engine does not have return MPI_ERR_UNSUPPORTED_OPERATION for all
// arguments.
func TestEveryProcedureTakesWildArguments(t *testing.T) {
	all, err := abi.Procedures()
	ok(t, err)
	ends := []string{"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort"}
	for _, way := range wildnesses {
		t.Run(way.name, func(t *testing.T) {
			mpitest.On(t, "inproc", 1, func(t testing.TB, world *mpi.Comm) {
				l := New(Hooks{
					Malloc: func(n uintptr) unsafe.Pointer { return unsafe.Pointer(&make([]byte, max(n, 1))[0]) },
					Invoke: func(int, uintptr, []uintptr) int { t.Error("a function was called"); return 0 },
				})
				l.testStart(world)
				l.state.Store(running)
				room := unmoved[memory]()
				for _, p := range all {
					if slices.Contains(ends, p.Name) {
						continue
					}
					for _, large := range []bool{false, true} {
						if large && p.Large == nil {
							continue
						}
						way.call(t, l, p, large, room)
					}
				}
			})
		})
	}
}

// call makes one call.
func (way *wildness) call(t testing.TB, l *Lib, p *abi.Procedure, large bool, room *memory) {
	params := p.Params
	if large {
		params = p.Large.Params
	}
	words := make([]uintptr, len(params)+1)
	words[len(params)] = uintptr(unsafe.Pointer(&room[len(params)])) // for results that are no error code
	for i, x := range params {
		switch {
		case x.Stars > 0 || x.Array:
			if way.addresses {
				for k := 0; k < arrayBytes; k += 8 {
					binary.NativeEndian.PutUint64(room[i][k:], way.fill)
				}
				words[i] = uintptr(unsafe.Pointer(&room[i]))
			}
		case strings.HasSuffix(x.Base, "function"), strings.HasSuffix(x.Base, "function_c"):
		case strings.HasPrefix(x.Base, "MPI_") && !slices.Contains([]string{"MPI_Aint", "MPI_Count", "MPI_Offset", "MPI_Fint"}, x.Base):
			words[i] = way.handle(x.Base)
		default:
			words[i] = uintptr(way.number)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s (large: %t) %#x: %v", p.Name, large, words, r)
		}
	}()
	code := l.Call(p.Number, large, unsafe.Pointer(&words[0]))
	if lacks := calls[p.Number] == nil; p.Returns == "int" && !strings.HasSuffix(p.Name, "_toint") && (code < 0 || code > int(mpi.LastUsedCode())) || lacks && code != int(mpi.ErrUnsupportedOperation) {
		t.Errorf("%s (large: %t) %#x: code %d", p.Name, large, words, code)
	}
}
