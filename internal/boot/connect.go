package boot

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/sys"
)

// EnvFD is the environment variable in which Halo's launcher gives a program the
// number of the descriptor of its link.
const EnvFD = "HALO_BOOT_FD"

// EnvLink is the environment variable that says which file EnvFD names, and how a program joins whose wrapper has
// closed or replaced that: the inode of the link, the rank, and the abstract name of a socket, separated by commas.
// The name is empty where there is no such socket. It is no secret: the launcher asks the kernel which process
// connects, and serves those that descend from the process of the rank.
const EnvLink = "HALO_BOOT_LINK"

// Halo's launcher also sets what programs of MPICH and Intel MPI look for, which speak PMI-1 on the
// same link.
const (
	EnvPMIFD   = "PMI_FD"
	EnvPMIRank = "PMI_RANK"
	EnvPMISize = "PMI_SIZE"
)

// linkNote is the content of EnvLink.
type linkNote struct {
	inode uint64
	rank  int
	name  string
}

// LinkNote returns the value of EnvLink for a rank.
func LinkNote(inode uint64, rank int, name string) string {
	return fmt.Sprintf("%d,%d,%s", inode, rank, name)
}

// parseLinkNote returns nil if the text is none from LinkNote.
func parseLinkNote(text string) *linkNote {
	words := strings.Split(text, ",")
	if len(words) != 3 {
		return nil
	}
	inode, err1 := strconv.ParseUint(words[0], 10, 64)
	rank, err2 := strconv.ParseUint(words[1], 10, 31)
	if err1 != nil || err2 != nil {
		return nil
	}
	return &linkNote{inode, int(rank), words[2]}
}

// Connect connects this process to the launcher that has started it, by EnvFD, or by EnvLink if the descriptor
// is not that of the link any more. It may
// be called once: it removes EnvFD and the like from the environment, so that programs which this
// one starts do not take its place in the job. inC says that the program uses the C
// names of calls, which the launcher then uses in its messages; world that the process calls
// Init of the world model, and not only opens a session.
func Connect(inC, world bool) (Boot, error) {
	value, note := os.Getenv(EnvFD), parseLinkNote(os.Getenv(EnvLink))
	for _, name := range []string{EnvFD, EnvLink, EnvPMIFD, EnvPMIRank, EnvPMISize} {
		os.Unsetenv(name)
	}
	own := greeting{ownVersions(), Build(), inC, world}
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 {
		err = fmt.Errorf("boot: %s=%q is not a descriptor of a launcher", EnvFD, value)
	} else {
		var l *launched
		l, err = inherited(fd, own, note)
		if err == nil {
			return l, nil
		}
	}
	var lost lostLink
	if note == nil || note.name == "" || value != "" && !errors.As(err, &lost) {
		return nil, err
	}
	l, again := meet(note, own)
	if again != nil {
		return nil, fmt.Errorf("%w; and by its socket: %w", err, again)
	}
	return l, nil
}

// A lostLink is the error if a process does not have the link that the launcher has given to the rank.
type lostLink struct{ error }

// Unwrap returns the cause.
func (e lostLink) Unwrap() error { return e.error }

// inherited joins by descriptor fd. It leaves the descriptor as it is unless that is the link.
func inherited(fd int, own greeting, note *linkNote) (*launched, error) {
	lost := func(err error) error {
		return lostLink{fmt.Errorf("boot: %w: %s names the launcher's descriptor, which something between halo run and "+
			"this program closed or replaced; let wrappers keep descriptor %d open", err, EnvFD, fd)}
	}
	if note != nil && note.inode != 0 {
		if inode, err := sys.SocketInode(fd); err != nil {
			return nil, lost(err)
		} else if inode != note.inode {
			return nil, lost(fmt.Errorf("descriptor %d is another socket than the launcher's", fd))
		}
	}
	link, err := sys.NewLink(fd)
	if err != nil {
		return nil, lost(err)
	}
	l, err := dialFor(link, own, answerTimeout)
	if err != nil {
		link.Close()
		if errors.Is(err, errNoAnswer) { // it serves another process in this one's place, or none any more
			err = lostLink{err}
		}
		return nil, err
	}
	return l, nil
}
