package meet

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
)

// maxPortName is the length of the longest name of a port in bytes: MPI_MAX_PORT_NAME without its NUL.
const maxPortName = 1023

// Publish publishes port, the name of a port, under the name of a service, for processes of the same user on
// this host. port may be any text: Connect checks it. The call is local.
func (e *Engine) Publish(name, port string) error {
	if port == "" || len(port) > maxPortName {
		return class.Errorf(class.Port, "a name of a port with %d bytes, want 1 to %d", len(port), maxPortName)
	}
	s, err := publish(name, port)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.services[name] = s
	return nil
}

// Unpublish withdraws the name of a service that this process has published for a port.
func (e *Engine) Unpublish(name, port string) error {
	e.mu.Lock()
	s := e.services[name]
	if s != nil && s.port == port {
		delete(e.services, name)
	}
	e.mu.Unlock()
	switch {
	case s == nil:
		return class.Errorf(class.Service, "this process has not published %q", printable(name))
	case s.port != port:
		return class.Errorf(class.Service, "%q is published for another port, %s", printable(name), hidden(s.port))
	}
	s.withdraw()
	return nil
}

// Lookup returns the name of the port that is published under the name of a service.
func (e *Engine) Lookup(name string) (port string, err error) { return lookup(name) }

// End closes all ports and withdraws all names of services, when the process uses MPI no more.
func (e *Engine) End() {
	e.mu.Lock()
	ports, services := e.ports, e.services
	e.ports, e.services = map[string]*tcp.Port{}, map[string]*service{}
	e.mu.Unlock()
	for _, p := range ports {
		p.Close()
	}
	for _, s := range services {
		s.withdraw()
	}
}
