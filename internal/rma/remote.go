package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/wire"
)

// targetLink is what frames need to know of a target.
type targetLink struct{}

// windowLink is what they need to know of a window.
type windowLink struct{}

// engineLink is what they need to know of a process.
type engineLink struct{}

// operationLink is what they need to know of an operation.
type operationLink struct{}

// remote sends an operation to its target, and ends it. The lock is held.
func (e *Engine) remote(o *operation) {
	e.end(o, fail(class.UnsupportedOperation, "targets that are not mapped come next"))
}

func (e *Engine) workLink() int { return 0 }

func (e *Engine) lostLink(peer int) {}

// unplace sees to it that no frame still writes to memory that is about to go.
func (e *Engine) unplace(w *Window, mem []byte) {}

// Frame implements fabric.Sink.
func (e *Engine) Frame(from int, h *wire.Header, payload []byte) {}

// Place implements fabric.Sink.
func (e *Engine) Place(from int, h *wire.Header) []byte { return nil }

// Placed implements fabric.Sink.
func (e *Engine) Placed(from int, h *wire.Header) {}

// Down implements fabric.Sink.
func (e *Engine) Down(peer int, cause error) {}
