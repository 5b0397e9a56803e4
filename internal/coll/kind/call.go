package kind

import "github.com/halo-mpi/halo/internal/call"

// Call is a call of a program that is collective over a communicator.
type Call uint32

// callsOfForm is the number of values that each form reserves for its calls: see CallOf.
const callsOfForm = 32

// The calls that are not made by CallOf. 0 is no call: the state of a communicator without a
// call in progress.
const (
	CallDup Call = Call(Forms)*callsOfForm + 1 + iota
	CallIdup
	CallSplit
	CallCreate
	CallIntercommCreate
	CallMerge
	CallFree
	CallWinFree
	CallFinalize
	CallAccept
	CallConnect
)

var _ [callsOfForm - 1 - kinds]struct{} // callsOfForm is large enough for all kinds

// CallOf returns the call of a kind in a form. C code uses the numbers of the blocking calls.
func CallOf(k Kind, f Form) Call { return 1 + Call(k) + Call(f)*callsOfForm }

// Number is the call among all calls.
func (c Call) Number() call.Number {
	switch c {
	case CallDup:
		return call.CommDup
	case CallIdup:
		return call.CommIdup
	case CallSplit:
		return call.CommSplit
	case CallCreate:
		return call.CommCreate
	case CallIntercommCreate:
		return call.IntercommCreate
	case CallMerge:
		return call.IntercommMerge
	case CallFree:
		return call.CommFree
	case CallWinFree:
		return call.WinFree
	case CallFinalize:
		return call.Finalize
	case CallAccept:
		return call.CommAccept
	case CallConnect:
		return call.CommConnect
	}
	return Kind((c - 1) % callsOfForm).in(Form((c - 1) / callsOfForm))
}

// String is the name of the call in package mpi.
func (c Call) String() string { return c.Number().Go() }
