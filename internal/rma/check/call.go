package check

import "fmt"

// Call is a call of the program: its name, and its place in the source. A binding of another
// language knows only an address, PC, which becomes text when a report is written (Locator.Place).
type Call struct {
	Name, Site string
	PC         uintptr // return address of a call in another language; 0: Site is known
}

// Locator describes calls of a program in another language. The zero Locator is that of Go, where
// calls carry their places as text.
type Locator struct {
	Place func(pc uintptr) string  // place in the source of the call that returns to pc
	Name  func(call string) string // name of the call in that language
}

// where returns the place in the source of a call of this process.
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

// named returns the name of a call in the program's language.
func (l *Locator) named(c *Call) string {
	if c.PC == 0 || l.Name == nil {
		return c.Name
	}
	return l.Name(c.Name)
}

// called returns the name and the place of a call of this process, separated by the text between.
func (l *Locator) called(c *Call, between string) string { return l.named(c) + between + l.where(c) }
