//go:build !linux

package sys

// Places is not supported on this platform: every Instance is -1.
func Places() []Place {
	var all []Place
	for _, kind := range Kinds() {
		all = append(all, Place{kind, -1})
	}
	return all
}
