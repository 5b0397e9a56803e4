package tcp

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/planted"
)

// place returns the address at which processes of other jobs reach this one. from is the address of one
// on another host, nil if none is known.
//
// The processes of a job of one host listen on the loopback address. When they meet a process of another
// host, they listen on the address of this host by which packets go there, too, and continue until they end.
// From then on they tell this address to all other processes that they meet: these may pass it on to
// processes of other hosts.
func (d *connector) place(from address.IP) (addr string, err error) {
	if own, _, err := address.Split(d.ln.addr()); err != nil || !own.Loopback() {
		return d.ln.addr(), err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ctx.Err() != nil:
		return "", d.ctx.Err()
	case from != nil && !planted.FarUnheard:
		err = d.limits.inside(func() error {
			addr, err = d.listenFor(from)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("tcp: an address by which %s reaches this process: %w", from, err)
		}
		return addr, nil
	case len(d.wide) > 0:
		return d.wide[0].addr(), nil
	}
	return d.ln.addr(), nil
}

// listenFor returns an address at which a process of another host reaches this one. mu is held.
func (d *connector) listenFor(from address.IP) (string, error) {
	own, err := sourceOf(from)
	if err != nil {
		return "", err
	}
	host := own.String()
	if i := slices.IndexFunc(d.wide, func(l *listener) bool { return l.host == host }); i >= 0 {
		return d.wide[i].addr(), nil
	}
	l, err := listenAt(host, own, 0)
	if err != nil {
		return "", err
	}
	d.wide = append(d.wide, l)
	d.wg.Go(func() { d.answer(l) })
	return l.addr(), nil
}

// Remote returns the address of the other end if that is on another host, else nil.
func (c *Call) Remote() address.IP {
	own, peer, err := c.conn.ends()
	if err != nil || peer.Loopback() || bytes.Equal(own, peer) {
		return nil
	}
	return peer
}
