//go:build !linux

package meet

import "github.com/halo-mpi/halo/internal/class"

// service is a published name, which this platform has no means for.
type service struct{ port string }

func (s *service) withdraw() {}

func publish(name, _ string) (*service, error) {
	return nil, class.Errorf(class.Service, "%q: names of services exist on Linux only", printable(name))
}

func lookup(name string) (string, error) {
	return "", class.Errorf(class.Name, "%q: names of services exist on Linux only", printable(name))
}
