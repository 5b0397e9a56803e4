package proc

// SetNote gives the process a place of memory where the launcher can read what
// it waits for, should it die there. Before Start.
func (p *Proc) SetNote(note []byte) { p.note = note }

// noteDown writes what e is about, or nothing, into the note. Only a goroutine
// that goes to sleep takes the time; if several sleep the last one shows.
func (p *Proc) noteDown(e *Event) {
	if len(p.note) == 0 {
		return
	}
	if e == nil || e.About == nil {
		p.note[0] = 0
		return
	}
	p.text = e.About.AppendAbout(p.text[:0])
	n := copy(p.note[:len(p.note)-1], p.text)
	p.note[n] = 0
}
