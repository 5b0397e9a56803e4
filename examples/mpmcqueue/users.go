package main

import "fmt"

// producer pushes items with values that name it, and are numbered from 1 on. Its last one
// has the value 0.
type producer struct {
	user
	me    int
	items int
	check uint64 // the sum of the values
}

// valueBits are how many bits of a value are its number.
const valueBits = 40

func (p *producer) produce(more func() bool) error {
	for more() {
		p.items++
		value := uint64(p.me)<<valueBits + uint64(p.items)
		p.check += value
		if err := p.push(itemOf(value)); err != nil {
			return err
		}
	}
	return p.push(itemOf(0))
}

// consumer pops items until one says that a producer is done. There are as many of these as
// consumers, and the last item of all is one.
type consumer struct {
	user
	latest []uint64 // number of each producer's
	items  int
	check  uint64
}

func newConsumer(q *queue) *consumer {
	return &consumer{user: user{queue: q}, latest: make([]uint64, q.size)}
}

func (c *consumer) consume() error {
	for {
		i, err := c.pop()
		if err != nil {
			return err
		}
		value := i[0]
		if i != itemOf(value) {
			return fmt.Errorf("mpmcqueue: an item is torn: %#x", i)
		}
		if value == 0 {
			return nil
		}
		if err := c.take(value); err != nil {
			return err
		}
	}
}

// take checks that the numbers of each producer rise.
func (c *consumer) take(value uint64) error {
	from, number := value>>valueBits, value%(1<<valueBits)
	if from >= uint64(c.size) || number <= c.latest[from] {
		return fmt.Errorf("mpmcqueue: item %d of rank %d came behind its item %d", number, from, c.latest[min(from, uint64(c.size-1))])
	}
	c.latest[from] = number
	c.items++
	c.check += value
	return nil
}
