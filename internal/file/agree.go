package file

import (
	"encoding/binary"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
)

// A collective call on a file has an agreement before it changes anything: each member tells the
// others its own error, if it has one, and the arguments that must be the same at all. If one has an
// error, or differs, all return an error, and nothing has happened.

// The layout of what a member tells: class of the error, lengths of the two texts, the texts.
const (
	tellSize  = 256
	tellTexts = 8
	sameMax   = 120 // bytes of the first text
)

// agree is an agreement of the members of c on a call. same describes the arguments that must be the
// same. It takes the lock.
func (e *Engine) agree(c *comm.Comm, by call.Number, same string, own error) error {
	if c.Size() == 1 {
		return own
	}
	give, all := make([]byte, tellSize), make([]byte, tellSize*c.Size())
	if own != nil {
		binary.LittleEndian.PutUint32(give, uint32(classOf(own)))
		putText(give, 6, tellTexts+sameMax, own.Error())
	}
	putText(give, 4, tellTexts, same[:min(len(same), sameMax)])
	defer c.Begin(by)()
	err := e.colls.Do(c, coll.Allgather, &coll.Args{Send: coll.Bytes(give), Recv: coll.Bytes(all), Width: 1, Call: by})
	switch {
	case own != nil:
		return own
	case err != nil:
		return err
	}
	for r := range c.Size() {
		told := all[r*tellSize:]
		if c := binary.LittleEndian.Uint32(told); c != 0 {
			return class.Errorf(toldClass(int64(c)), "rank %d: %s", r, textOf(told, 6, tellTexts+sameMax))
		}
	}
	first := textOf(all, 4, tellTexts)
	for r := range c.Size() {
		if other := textOf(all[r*tellSize:], 4, tellTexts); other != first {
			return class.Errorf(class.NotSame, "rank 0 has %s, rank %d has %s", first, r, other)
		}
	}
	return nil
}

// putText stores a text, cut to its room, and its length at byte length.
func putText(b []byte, length, at int, text string) {
	room := b[at:tellSize]
	if length == 4 {
		room = b[at : at+sameMax]
	}
	binary.LittleEndian.PutUint16(b[length:], uint16(copy(room, text)))
}

// textOf reads a text that another process has told.
func textOf(b []byte, length, at int) string {
	n := min(int(binary.LittleEndian.Uint16(b[length:])), tellSize-at)
	return strings.ToValidUTF8(string(b[at:at+n]), "?")
}

// toldClass is the class that another process has told by number, Intern if there is no such class.
func toldClass(n int64) class.Class {
	if name, _ := class.Describe(class.Class(n)); name == "" {
		return class.Intern
	}
	return class.Class(n)
}

// notTaken is the error of the others if a member, of rank r, does not take part because its arguments
// are wrong; c is the number of the class of that error, 0 if there is none.
func notTaken(r int, c int64) error {
	if c == 0 {
		return nil
	}
	return class.Errorf(toldClass(c), "rank %d takes no part in it: its arguments are wrong (%s)", r, className(toldClass(c)))
}

func className(c class.Class) string {
	name, _ := class.Describe(c)
	return name
}

// byFirst has rank 0 do something that all members have agreed on, and tells the others its error.
func (f *File) byFirst(by call.Number, same string, own error, do func() error) error {
	f.queue.wait()
	if err := f.e.agree(f.c, by, same, own); err != nil {
		return err
	}
	var err error
	if f.c.Rank == 0 {
		err = do()
	}
	return f.e.agree(f.c, by, "", err)
}
