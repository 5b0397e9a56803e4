package boot

// Versions returns the versions of the protocols of this program. A launcher refuses a
// program if one of them differs.
func Versions() string { return ownVersions().String() }
