package check

import "fmt"

// Call is a call of the program: its name, and its place in the source. A binding of another
// language knows only an address, PC, which becomes text when a report is written (Locator.Place).
type Call struct {
	Name, Site string
	PC         uintptr // of a program in another language: where the call returns to; 0: Site is known
}

// Locator describes calls of a program in another language. The zero Locator is that of Go, where
// calls carry their places as text.
type Locator struct {
	Place func(pc uintptr) string  // in the source, of the call that returns to pc
	Name  func(call string) string // in that language
}

// where is the place of a call of this process in the source.
func (l *Locator) where(c *Call) string {
	switch {
	case c.PC == 0:
		return c.Site
	case l.Place == nil:
		return fmt.Sprintf("%#x", c.PC)
	}
	site := l.Place(c.PC)
	return site[max(0, len(site)-siteMax):]
}

// named is the name of a call in the program's language.
func (l *Locator) named(c *Call) string {
	if c.PC == 0 || l.Name == nil {
		return c.Name
	}
	return l.Name(c.Name)
}

// called is the name and the place of a call of this process, with the text between between them.
func (l *Locator) called(c *Call, between string) string { return l.named(c) + between + l.where(c) }
