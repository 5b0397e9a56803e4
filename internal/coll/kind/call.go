package kind

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

// String is the name of the call in package mpi.
func (c Call) String() string {
	switch c {
	case CallDup:
		return "Dup"
	case CallIdup:
		return "Idup"
	case CallSplit:
		return "Split"
	case CallCreate:
		return "Create"
	case CallIntercommCreate:
		return "IntercommCreate"
	case CallMerge:
		return "Merge"
	case CallFree, CallWinFree:
		return "Free"
	case CallFinalize:
		return "Finalize"
	case CallAccept:
		return "Accept"
	case CallConnect:
		return "Connect"
	}
	name := Kind((c - 1) % callsOfForm).String()
	switch Form((c - 1) / callsOfForm) {
	case Nonblocking:
		return "I" + string(name[0]|0x20) + name[1:]
	case Persistent:
		return name + "Init"
	}
	return name
}
