package operation

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
)

// Kind is what an operation does at its target.
type Kind uint8

// The kinds of calls. Package rma has others, of what its queues hold beside operations of calls.
const (
	Put            Kind = iota
	Get                 // into Result
	Accumulate          // of Origin; with a Result it fetches the previous values: get_accumulate and fetch_and_op
	CompareAndSwap      // of one element
)

// Done is the completion that the request of an operation stands for.
type Done uint8

// The completions.
const (
	None   Done = iota // no request: the operation is complete when the epoch ends, or after a flush
	Local              // complete at the origin
	Remote             // complete at the origin and at the target
)

// Op is an operation as a call describes it: the forms of a verb differ in fields only. It stays on
// the stack of its caller; an operation that waits, or goes by frames, has a copy.
//
// The bytes of the origin belong to the operation until it is complete there.
type Op struct {
	Kind    Kind
	Done    Done
	Notify  uint32  // Notice of the counter of the target that goes up by 1 when it is complete there; 0: none
	Fn      op.Op   // of accumulates; op.CheckAccumulate has accepted it for Elem
	Elem    op.Type // of accumulates and compare-and-swap: the type of the elements
	Origin  mem.Mem // what is put, the operand of an accumulate, the new value of compare-and-swap
	Result  mem.Mem // memory for the previous values: no bytes if they are not wanted
	Compare []byte  // the value that compare-and-swap expects
	Disp    int64   // in units of the target; an address in a dynamic window
	Place   Place
	Call    call.Number // its name in errors, and that of its request
}

// Notice is Op.Notify for a counter, which exists.
func Notice(counter int) uint32 { return uint32(counter) + 1 }

// Size is the number of packed bytes.
func (o *Op) Size() int64 {
	if o.Kind == Get || o.Fn == op.NoOp {
		return int64(o.Result.Len())
	}
	return int64(o.Origin.Len())
}

// Fetches reports whether an operation returns data.
func (o *Op) Fetches() bool {
	return o.Kind == Get || o.Kind == CompareAndSwap || o.Kind == Accumulate && o.Result.Len() > 0
}

// Atomic reports whether an operation accesses elements atomically, and in order with others of its
// origin.
func (o *Op) Atomic() bool { return o.Kind == Accumulate || o.Kind == CompareAndSwap }

// Sends reports whether an operation has data of the origin.
func (o *Op) Sends() bool { return o.Kind != Get && o.Fn != op.NoOp }

// Silent reports whether the answers to an operation have no data.
func (o *Op) Silent() bool { return o.Done == Remote && !o.Fetches() }

// Answers reports whether the frames of an operation are answered.
func (o *Op) Answers() bool { return o.Done == Remote || o.Fetches() }

// Contiguous reports whether the data are contiguous at both sides.
func (o *Op) Contiguous() bool {
	return o.Place.Type == nil && o.Origin.Contiguous() && o.Result.Contiguous()
}

// Memory is the memory at the origin of a put or get.
func (o *Op) Memory() mem.Mem {
	if o.Kind == Get {
		return o.Result
	}
	return o.Origin
}

// CheckElements returns an error unless the data of an accumulate are whole elements.
func (o *Op) CheckElements(size int64) error {
	width, room := int64(o.Elem.Size()), int64(o.Result.Len())
	switch {
	case width == 0:
		return class.Errorf(class.Type, "%v is no type of elements", o.Elem)
	case o.Kind == CompareAndSwap && !o.Contiguous():
		return class.Errorf(class.Type, "a compare-and-swap takes contiguous elements")
	case o.Kind == CompareAndSwap && (size != width || int64(len(o.Compare)) != width || room != width):
		return class.Errorf(class.Count, "%d, %d and %d bytes are not one element of %v each", size, len(o.Compare), room, o.Elem)
	case size%width != 0:
		return class.Errorf(class.Count, "%d bytes are not whole elements of %v", size, o.Elem)
	case o.Kind == Accumulate && room > 0 && room != size:
		return class.Errorf(class.Count, "room for %d bytes before, where %d are accumulated", room, size)
	}
	return nil
}

// MaxElement is the size of the longest element in bytes.
const MaxElement = 64
