package link

import "github.com/halo-mpi/halo/internal/wire"

// pageSize is the room of a frame that is packed, in bytes.
const pageSize = wire.MaxPayload

// pagesMax is how many free pages are kept.
const pagesMax = 64

// TakePage returns memory for a frame.
func (l *Link) TakePage() []byte {
	if n := len(l.pages); n > 0 {
		p := l.pages[n-1]
		l.pages = l.pages[:n-1]
		return p
	}
	return make([]byte, pageSize)
}

// GivePage frees memory of TakePage.
func (l *Link) GivePage(p []byte) {
	if len(l.pages) < pagesMax {
		l.pages = append(l.pages, p[:pageSize])
	}
}
