package pmix

import (
	"context"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/boot/engine"
)

// Psets returns the process sets of the engine with processes of this job, such as those of the option
// --pset of PRRTE, by what they were named. It is empty if the engine has none.
func (c *Client) Psets() ([]engine.Pset, error) {
	v, err := c.query(keyPsets)
	if err != nil {
		return nil, c.failed("query "+keyPsets, err)
	}
	var sets []engine.Pset
	for _, name := range names(v) {
		members, err := c.query(keyMembers, kval{keyPsetName, value{kind: typeString, text: name}})
		if err != nil {
			return nil, c.failed(fmt.Sprintf("query %s of the process set %.60q", keyMembers, name), err)
		}
		if ranks := ranks(members, c.place.nspace, c.id.Size); len(ranks) > 0 {
			sets = append(sets, engine.Pset{Name: name, Ranks: ranks})
		}
	}
	return sets, nil
}

// names returns the strings of an array, or those in a text that commas separate.
func names(v value) []string {
	var list []string
	if v.kind == typeString && v.text != "" {
		list = strings.Split(v.text, ",")
	}
	for _, element := range v.array {
		if element.kind == typeString {
			list = append(list, element.text)
		}
	}
	return list
}

// ranks returns the ranks of a job in an array of processes, ascending and each once.
func ranks(v value, nspace string, size int) []int {
	in, all := make([]bool, size), false
	for _, element := range v.array {
		p := element.proc
		if p.nspace != nspace {
			continue
		}
		switch {
		case p.rank == wildcard:
			all = true
		case int64(p.rank) < int64(size):
			in[p.rank] = true
		}
	}
	var list []int
	for rank, member := range in {
		if member || all {
			list = append(list, rank)
		}
	}
	return list
}

// query asks the engine for something by its key. The value is zero if the engine does not say it.
func (c *Client) query(key string, qualifiers ...kval) (value, error) {
	m := c.message()
	m.command(cmdQuery)
	m.size(1)
	m.count(1)
	m.count(1) // keys
	m.text(key)
	m.number(len(qualifiers))
	for _, q := range qualifiers {
		m.info(q)
	}
	s, r, err := c.ask(context.Background(), m)
	switch {
	case err != nil:
		return value{}, err
	case s != success && s != partialSuccess && s != queryPartial:
		return value{}, nil // the server of Slurm answers that it does not reach one that would know
	}
	if n := r.size(); r.err == nil && n > 0 {
		r.count() // the number again
		for range n {
			k := r.info()
			if r.err != nil {
				return value{}, r.err
			}
			if k.key == key {
				return k.value, nil
			}
		}
	}
	return value{}, r.err
}
