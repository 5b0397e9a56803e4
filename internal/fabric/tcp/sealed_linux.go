package tcp

import (
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// sealedStage is what the stage of a sealed connection grows to when the first
// record comes that is longer than stageSize: two of the longest, so that a read
// brings more than one.
const sealedStage = 2 * wire.RecordMax

// sendSealed is Fabric.Send on a connection between hosts: one system call and
// one pass of the cipher. A record is sealed once, whatever part of it goes out
// at a time: its number must not be used again.
func (l *link) sendSealed(f *Fabric, h *wire.Header, payload []byte) bool {
	if l.broken != nil {
		return true
	}
	if l.asking && !l.flush(f) {
		return l.refuse(f, h)
	}
	switch {
	case l.broken != nil:
		return true
	case l.record == nil:
		l.record = l.seal.Seal(f.buffer()[:0], h, payload)
	case l.onOffer != h.Word0():
		panic("tcp: another frame offered while one is sent in part")
	}
	if l.flush(f) {
		l.accept(f)
		return true
	}
	return l.refuse(f, h)
}

// ask sends an empty record, to which the peer's kernel must answer. Nothing is
// on its way: there is room.
func (l *link) ask(f *Fabric) {
	if l.record == nil {
		l.record, l.asking = l.seal.Seal(f.buffer()[:0], nil, nil), true
		l.flush(f)
	}
}

// flush sends what is left of the record at hand, and reports whether that is done.
func (l *link) flush(f *Fabric) bool {
	n, e := sys.Send(l.fd, l.record[l.sent:])
	switch {
	case e == 0:
		if l.sent += n; l.sent < len(l.record) {
			return false
		}
	case again(e):
		return false
	default:
		l.broken, f.broken = e, true
	}
	l.drop(f)
	return true
}

// drop gives the buffer of the record at hand back.
func (l *link) drop(f *Fabric) {
	if l.record != nil {
		f.bufs = append(f.bufs, l.record[:cap(l.record)])
	}
	l.record, l.sent, l.asking = nil, 0, false
}

// open delivers the frames of the records that are whole in stage: they are opened
// there, and only then looked at.
func (l *link) open(s fabric.Sink) (did int, err error) {
	r := 0
	for {
		n, payload, err := l.seal.Open(l.stage[r:l.w], &l.h)
		if err != nil {
			return did, err
		}
		if n == 0 {
			break
		}
		r += n
		if l.h.Kind != 0 { // else a sign of life
			s.Frame(l.peer, &l.h, payload)
			did++
		}
	}
	l.w = copy(l.stage, l.stage[r:l.w])
	if need, _ := wire.RecordSize(l.stage[:l.w]); need > len(l.stage) {
		l.stage = append(make([]byte, 0, sealedStage), l.stage[:l.w]...)[:sealedStage]
	}
	return did, nil
}
