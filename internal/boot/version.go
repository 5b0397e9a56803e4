package boot

// Versions says which versions of the protocols this program speaks. Programs
// and launchers that differ in one of them refuse each other.
func Versions() string { return ownVersions().String() }
