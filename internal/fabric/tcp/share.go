package tcp

import "github.com/halo-mpi/halo/internal/node/pair"

// share has the ends of a new connection with a process of another job agree on memory for their frames, before
// the connection carries any. If the connection fails meanwhile, the data path finds out. The peer may be slow, so
// that there is no limit of time.
func (d *connector) share(r *result, calls bool) {
	stop := interrupt(d.ctx, r.conn)
	defer stop()
	agree := pair.Take
	if calls {
		agree = pair.Offer
	}
	r.mem, r.memWhy, _ = agree(r.conn, d.shares)
}
