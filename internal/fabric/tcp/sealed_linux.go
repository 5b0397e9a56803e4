package tcp

import (
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// sealedStage is the length of the stage of a sealed connection after the first record that
// is longer than stageSize: two of the longest records, so that a read gets more than one.
const sealedStage = 2 * wire.RecordMax

// sendSealed is Fabric.Send on a connection between hosts: one system call and
// one pass of the cipher. A record is sealed once, however many calls send it: its number
// must not be used again.
func (l *link) sendSealed(f *Fabric, h *wire.Header, payload []byte) bool {
	if l.broken != nil {
		return true
	}
	if l.keepalive && !l.flush(f) {
		return l.refuse(f, h)
	}
	switch {
	case l.broken != nil:
		return true
	case l.record == nil:
		l.record = l.seal.Seal(f.buffer()[:0], h, payload)
	case l.pending != h.Word0():
		panic("tcp: another frame offered while one is sent in part")
	}
	if l.flush(f) {
		l.accept(f)
		return true
	}
	return l.refuse(f, h)
}

// sendKeepalive sends an empty record, which the peer's kernel must acknowledge. There is room
// for it, since nothing is unacknowledged.
func (l *link) sendKeepalive(f *Fabric) {
	if l.record == nil {
		l.record, l.keepalive = l.seal.Seal(f.buffer()[:0], nil, nil), true
		l.flush(f)
	}
}

// flush sends the rest of the current record, and reports whether it is sent.
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

// drop returns the buffer of the current record.
func (l *link) drop(f *Fabric) {
	if l.record != nil {
		f.bufs = append(f.bufs, l.record[:cap(l.record)])
	}
	l.record, l.sent, l.keepalive = nil, 0, false
}

// open delivers the frames of the whole records in stage. Each record is opened there before
// anything is parsed.
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
		if l.h.Kind != 0 { // else a keepalive
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
