package meet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/sys"
)

// A service is a published name. The process that has published it listens at a Unix socket whose
// abstract name follows from the user and the service, and gives the name of the port to processes of
// the same user. The kernel lets one process of a host have that name, and takes it back when the
// process ends, however it does: no name outlives its process, and nothing has to be removed.
//
// Rejected: files in a folder of the user, which stay behind when a process is killed.
type service struct {
	port string
	at   *os.File
	done sync.WaitGroup
}

// lookupWithin is how long a lookup waits for the answer of the process that has published, which a
// goroutine of its own gives.
const lookupWithin = 10 * time.Second

// socketName is the name of the socket of a service.
func socketName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("halo-name-%d-%s", os.Getuid(), hex.EncodeToString(sum[:16]))
}

// publish makes name the name of a port for other processes of the user on this host.
func publish(name, port string) (*service, error) {
	at, err := sys.ListenNode(socketName(name))
	if errors.Is(err, sys.ErrTaken) {
		return nil, class.Errorf(class.Service, "a process has published %q already", printable(name))
	}
	if err != nil {
		return nil, &class.Error{Class: class.Service, Text: err.Error(), Cause: err}
	}
	s := &service{port: port, at: at}
	s.done.Go(s.serve)
	return s, nil
}

// serve answers lookups until withdraw.
func (s *service) serve() {
	sys.ServeNode(s.at, func(link *sys.Link, _ int) {
		_ = link.Write([]byte(s.port), nil) // there is room in a new socket; an error concerns who asks
		link.Close()
	})
}

func (s *service) withdraw() {
	s.at.Close()
	s.done.Wait()
}

// lookup returns the name of the port that a process of the user has published.
func lookup(name string) (port string, err error) {
	link, err := sys.DialNode(socketName(name))
	if errors.Is(err, sys.ErrNobody) {
		return "", class.Errorf(class.Name, "no process of this user on this host has published %q", printable(name))
	}
	if err != nil {
		return "", &class.Error{Class: class.Name, Text: err.Error(), Cause: err}
	}
	defer link.Close()
	pid, uid, err := link.Peer()
	if err != nil || uid != os.Getuid() {
		return "", class.Errorf(class.Name, "process %d, of user %d, has taken the place of %q", pid, uid, printable(name))
	}
	late := time.AfterFunc(lookupWithin, link.Expire)
	defer late.Stop()
	b, err := io.ReadAll(io.LimitReader(link.Stream(), maxPortName+1))
	if err != nil || len(b) == 0 || len(b) > maxPortName {
		return "", class.Errorf(class.Name, "process %d, which has published %q, gives no answer: %v", pid, printable(name), err)
	}
	return string(b), nil
}
