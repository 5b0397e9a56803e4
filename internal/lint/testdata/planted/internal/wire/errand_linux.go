package wire // want words "errand_linux contains the retired word"

type mourner struct { // want words "mourner"
	favouredRank int // want words "favouredRank contains the retired word "
	override     int
}

func (m *mourner) RunErrand(hopeOf int) { // want words "RunErrand" want words "hopeOf"
	rides := m.favouredRank // want words "rides"
	_ = other.Nudge(rides)  // declared elsewhere
}
