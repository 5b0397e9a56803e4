package choice

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/op"
)

// A Tunable is a setting in the environment. It is a number without text: each process reads the
// environment at its start, and texts for users are made only when a user asks for them.
type Tunable int

// The tunables. From tunableKind on they are the algorithms of each Kind.
const (
	tunableSlot Tunable = iota
	tunableKernel
	tunableKind
	tunables = tunableKind + Tunable(kind.Kinds)
)

// Tunables lists the settings. The environment is read once, at the start, and must be the same
// in all processes of the job.
func Tunables() []Tunable {
	list := make([]Tunable, tunables)
	for i := range list {
		list[i] = Tunable(i)
	}
	return list
}

// kind returns the kind of collective whose algorithms t sets.
func (t Tunable) kind() kind.Kind { return kind.Kind(t - tunableKind) }

// Env returns the name of the environment variable.
func (t Tunable) Env() string {
	switch t {
	case tunableSlot:
		return "HALO_COLL_SLOT"
	case tunableKernel:
		return op.KernelEnv
	}
	return "HALO_COLL_" + strings.ToUpper(t.kind().String())
}

// Doc describes t and its values.
func (t Tunable) Doc() string {
	switch t {
	case tunableSlot:
		return "blocking collectives on a node: auto, cells, counter, or none for messages"
	case tunableKernel:
		return "operations: go (loops), or vectors by avx2, avx512 or neon; all give the same bits"
	}
	var names []string
	for _, a := range Algorithms(t.kind()) {
		names = append(names, a.Name())
	}
	return "algorithms by messages: " + strings.Join(names, ", ")
}

// Value returns the value of t in c, in the syntax of the environment.
func (t Tunable) Value(c *Choice) string {
	switch t {
	case tunableSlot:
		return c.Slot.String()
	case tunableKernel:
		return c.Kernel.String()
	}
	return rulesText(c.Rules[t.kind()])
}

// set changes c to the value text of t.
func (t Tunable) set(c *Choice, text string) (err error) {
	switch t {
	case tunableSlot:
		for f := slot.Auto; f <= slot.None; f++ {
			if f.String() == text {
				c.Slot = f
				return nil
			}
		}
		return fmt.Errorf("%q is none of auto, cells, counter, none", text)
	case tunableKernel:
		c.Kernel, err = op.ParseKernel(text)
		return err
	}
	k := t.kind()
	c.Rules[k], err = parseRules(k, text)
	c.Forced[k] = true
	return err
}

// FromEnv returns the defaults, changed by the environment; get is os.Getenv.
func FromEnv(get func(string) string) (Choice, error) {
	c := Defaults()
	for t := range tunables {
		text := get(t.Env())
		if text == "" {
			continue
		}
		if err := t.set(&c, text); err != nil {
			return c, fmt.Errorf("%s=%s: %w", t.Env(), text, err)
		}
	}
	return c, nil
}
