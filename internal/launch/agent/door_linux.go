package agent

import (
	"crypto/rand"
	"os"
	"strings"

	"github.com/halo-mpi/halo/internal/sys"
)

// openDoor opens the second way. Without it ranks have the first one.
func (a *Agent) openDoor() {
	a.door.awaited = len(a.procs)
	name := "halo-" + strings.ToLower(rand.Text())
	l, err := sys.ListenNode(name)
	if err != nil {
		return
	}
	a.door.name, a.door.listener = name, l
	go sys.ServeUsers(l, func(link *sys.Link, pid, uid int) {
		if uid != os.Getuid() && uid != 0 {
			link.Close()
			return
		}
		c := a.server.Guest(link, pid)
		go func() {
			err := c.Serve()
			c.Close()
			if rank := c.Rank(); rank >= 0 { // admitted
				a.post(func() { a.linkOver(a.process(rank), err) })
			}
		}()
	})
}
