package boot

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// meetTimeout bounds the attempts to connect to the launcher, which may have more callers than it can queue.
const meetTimeout = 2 * time.Second

// meet joins by the socket of the launcher, as the rank of note.
func meet(note *linkNote, own greeting) (*launched, error) {
	link, err := sys.DialNode(note.name)
	for end := time.Now().Add(meetTimeout); errors.Is(err, sys.ErrFull) && time.Now().Before(end); link, err = sys.DialNode(note.name) {
		time.Sleep(10 * time.Millisecond)
	}
	if errors.Is(err, sys.ErrNobody) && !errors.Is(err, sys.ErrFull) {
		return nil, fmt.Errorf("%w: every rank of this host has joined already or has ended, or this process is in a network namespace of its own", err)
	}
	if err != nil {
		return nil, err
	}
	l, err := meetOver(link, note, own)
	if err != nil {
		link.Close()
	}
	return l, err
}

// meetOver joins over a link to the launcher's socket. The kernel tells who listens there. Root, to whom sudo may have
// changed, takes part in jobs of others; another user does not: the launcher would refuse that one.
func meetOver(link *sys.Link, note *linkNote, own greeting) (*launched, error) {
	pid, uid, err := link.Peer()
	if err != nil {
		return nil, err
	}
	if me := os.Getuid(); me != uid && me != 0 {
		return nil, fmt.Errorf("process %d of user %d listens there, and this is a process of user %d: "+
			"a rank runs as the user of the launcher, or as root", pid, uid, me)
	}
	g, err := join(link, note.rank, own, true, nil, answerTimeout)
	if err != nil {
		return nil, err
	}
	return g.launched, nil
}
