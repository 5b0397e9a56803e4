package coll

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/op"
)

// A Tunable is something that the environment can set. It is a number: every process reads the
// environment at its start, and texts for people are made when people ask.
type Tunable int

// What can be set: from tunableKind on the algorithms of each Kind.
const (
	tunableSlot Tunable = iota
	tunableKernel
	tunableKind
	tunables = tunableKind + Tunable(Kinds)
)

// Tunables lists what the environment can set. It is read once, at the start, and
// has to be the same in every process of the job.
func Tunables() []Tunable {
	list := make([]Tunable, tunables)
	for i := range list {
		list[i] = Tunable(i)
	}
	return list
}

// kind is the kind of collectives whose algorithms t is.
func (t Tunable) kind() Kind { return Kind(t - tunableKind) }

// Env is the environment variable.
func (t Tunable) Env() string {
	switch t {
	case tunableSlot:
		return "HALO_COLL_SLOT"
	case tunableKernel:
		return op.KernelEnv
	}
	return "HALO_COLL_" + strings.ToUpper(t.kind().String())
}

// Doc says what t is, and what it can be set to.
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

// Value is what t says in c, as the environment would.
func (t Tunable) Value(c *Choice) string {
	switch t {
	case tunableSlot:
		return c.Slot.String()
	case tunableKernel:
		return c.Kernel.String()
	}
	return rulesText(c.Rules[t.kind()])
}

// set has c say what is in the environment.
func (t Tunable) set(c *Choice, text string) (err error) {
	switch t {
	case tunableSlot:
		for f := SlotAuto; f <= SlotNone; f++ {
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

// FromEnv is the defaults with what the environment overrides; get is os.Getenv.
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

// String is the form's name.
func (f SlotForm) String() string {
	switch f {
	case SlotCells:
		return "cells"
	case SlotCounter:
		return "counter"
	case SlotNone:
		return "none"
	}
	return "auto"
}
