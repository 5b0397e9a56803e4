package coll

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/op"
)

// A Tunable is something that the environment can set.
type Tunable struct {
	Name    string // in messages
	Env     string // the environment variable
	Default string
	Doc     string
	set     func(c *Choice, text string) error
	show    func(c *Choice) string
}

// Tunables lists what the environment can set. It is read once, at the start, and
// has to be the same in every process of the job.
func Tunables() []Tunable {
	defaults := Defaults()
	list := []Tunable{{
		Name: "slot",
		Env:  "HALO_COLL_SLOT",
		Doc:  "blocking collectives on a node: auto, cells, counter, or none for messages",
		set: func(c *Choice, text string) error {
			for f := SlotAuto; f <= SlotNone; f++ {
				if f.String() == text {
					c.Slot = f
					return nil
				}
			}
			return fmt.Errorf("%q is none of auto, cells, counter, none", text)
		},
		show: func(c *Choice) string { return c.Slot.String() },
	}, {
		Name: "kernel",
		Env:  op.KernelEnv,
		Doc:  "operations: go (loops), or vectors by avx2, avx512 or neon; all give the same bits",
		set: func(c *Choice, text string) (err error) {
			c.Kernel, err = op.ParseKernel(text)
			return err
		},
		show: func(c *Choice) string { return c.Kernel.String() },
	}}
	for k := range kinds {
		var names []string
		for _, a := range Algorithms(k) {
			names = append(names, a.Name())
		}
		list = append(list, Tunable{
			Name: k.String(),
			Env:  "HALO_COLL_" + strings.ToUpper(k.String()),
			Doc:  "algorithms by messages: " + strings.Join(names, ", "),
			set: func(c *Choice, text string) (err error) {
				c.Rules[k], err = parseRules(k, text)
				c.Forced[k] = true
				return err
			},
			show: func(c *Choice) string { return rulesText(c.Rules[k]) },
		})
	}
	for i := range list {
		list[i].Default = list[i].show(&defaults)
	}
	return list
}

// Value is what the tunable says in c.
func (t *Tunable) Value(c *Choice) string { return t.show(c) }

// FromEnv is the defaults with what the environment overrides; get is os.Getenv.
func FromEnv(get func(string) string) (Choice, error) {
	c := Defaults()
	for _, t := range Tunables() {
		text := get(t.Env)
		if text == "" {
			continue
		}
		if err := t.set(&c, text); err != nil {
			return c, fmt.Errorf("%s=%s: %w", t.Env, text, err)
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
