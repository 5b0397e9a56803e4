package boot

import "fmt"

// A Job in a Welcome frame:
//
//	rank, size, appnum, cores uint32 | secret 32 bytes |
//	ID, Fabric: length uint16, bytes each |
//	Local as runs: count uint32, then first and length uint32 each

func (j *Job) encode() []byte {
	w := newFrame(kindWelcome)
	w.u32(uint32(j.Rank)).u32(uint32(j.Size)).u32(uint32(j.AppNum)).u32(uint32(j.Cores)).raw(j.Secret[:])
	w.text(j.ID).text(j.Fabric)
	var runs [][2]uint32
	for _, r := range j.Local {
		if k := len(runs) - 1; k >= 0 && runs[k][0]+runs[k][1] == uint32(r) {
			runs[k][1]++
		} else {
			runs = append(runs, [2]uint32{uint32(r), 1})
		}
	}
	w.u32(uint32(len(runs)))
	for _, r := range runs {
		w.u32(r[0]).u32(r[1])
	}
	return w.bytes()
}

func decodeJob(body []byte) (*Job, error) {
	r := bodyReader{b: body}
	rank, size, app, cores := r.u32(), r.u32(), r.u32(), r.u32()
	j := &Job{Rank: int(rank), Size: int(size), AppNum: int(app), Cores: int(cores)}
	copy(j.Secret[:], r.take(len(j.Secret)))
	j.ID, j.Fabric = r.text(), r.text()
	if r.bad || size == 0 || size > MaxRanks || rank >= size || app > MaxRanks || cores > 1<<24 {
		return nil, fmt.Errorf("boot: job description of %d bytes with rank %d of %d", len(body), rank, size)
	}
	next, mine := uint32(0), false
	for n := r.u32(); n > 0 && !r.bad; n-- {
		first, length := r.u32(), r.u32()
		if r.bad || first < next || length == 0 || length > size || first > size-length {
			return nil, fmt.Errorf("boot: job description with local ranks %d to %d of %d", first, uint64(first)+uint64(length), size)
		}
		for i := range length {
			j.Local = append(j.Local, int(first+i))
		}
		next = first + length
		mine = mine || first <= rank && rank < next
	}
	if !r.done() || !mine {
		return nil, fmt.Errorf("boot: job description of %d bytes in which rank %d is not local to itself", len(body), rank)
	}
	return j, nil
}
