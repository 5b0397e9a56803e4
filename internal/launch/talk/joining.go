//go:build unix

package talk

// Joining says how a rank has joined.
type Joining struct {
	InC   bool // as a program that uses the C names of calls
	World bool // it has called Init, and not only opened a session
	PMI   bool // as a program of another MPI, by PMI-1
}

// The bits of a joining in KindJoined.
const (
	joinedInC = 1 << iota
	joinedWorld
	joinedPMI
)

// Encode returns the bits of KindJoined.
func (h Joining) Encode() int {
	return joinedInC*Flag(h.InC) | joinedWorld*Flag(h.World) | joinedPMI*Flag(h.PMI)
}

// DecodeJoining decodes what Encode returns.
func DecodeJoining(bits int) Joining {
	return Joining{bits&joinedInC != 0, bits&joinedWorld != 0, bits&joinedPMI != 0}
}
