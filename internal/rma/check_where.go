package rma

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/p2p"
)

// Locator says in words what the program of another language has called. The zero Locator is
// that of Go, where calls carry their places as text.
type Locator struct {
	Place func(pc uintptr) string  // in the source, of the call that returns to pc
	Name  func(call string) string // in that language
}

// Locate makes reports name calls by l. It is called before anything is checked.
func (e *Engine) Locate(l Locator) { e.locator = l }

// where is the place of a call of this process in the source.
func (e *Engine) where(c *Call) string {
	switch {
	case c.PC == 0:
		return c.Site
	case e.locator.Place == nil:
		return fmt.Sprintf("%#x", c.PC)
	}
	site := e.locator.Place(c.PC)
	return site[max(0, len(site)-siteMax):]
}

// called is the name and the place of a call of this process, with the text how between.
func (e *Engine) called(c *Call, how string) string { return e.named(c) + how + e.where(c) }

// named is the name of a call as its program has it.
func (e *Engine) named(c *Call) string {
	if c.PC == 0 || e.locator.Name == nil {
		return c.Name
	}
	return e.locator.Name(c.Name)
}

// locate replaces the address of the call of a claim by text, which only the process that
// has made the call can: text is made when a report is written, not for each access. No lock
// is held.
func (w *Window) locate(c *claim) {
	if c.call.PC == 0 {
		return
	}
	name := w.e.named(&c.call)
	answer := w.e.inquire(w.Comm.Members[c.origin], w, c.encode([]byte{byte(verbWhere)}))
	site := fmt.Sprintf("%#x", c.call.PC)
	if len(answer) > 1 && verdict(answer[0]) == verdictFine {
		site = p2p.Printable(answer[1:min(len(answer), 1+siteMax)])
	}
	c.call = Call{Name: name, Site: site}
}
