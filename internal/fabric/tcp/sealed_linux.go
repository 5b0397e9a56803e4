package tcp

import (
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/wire"
)

// sealedStage is the length of the stage of a sealed connection after the first record that
// is longer than stageSize: two of the longest records, so that a read gets more than one.
const sealedStage = 2 * wire.RecordMax

// sendKeepalive sends an empty record, which the peer's kernel must acknowledge. There is room
// for it, since nothing is unacknowledged.
func (l *link) sendKeepalive(f *Fabric) {
	if l.held == nil {
		l.hold(f, nil, nil)
		l.flush(f)
	}
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
			l.noteArrived(&l.h)
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
