package boot

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/frame"
)

// A Job in a Welcome frame:
//
//	rank, size, appnum, cores uint32 | secret 32 bytes |
//	ID, Fabric, Listen: length uint16, bytes each |
//	Hosts: count uint32, then length uint16 and bytes each |
//	Host as runs: count uint32, then host and number of ranks uint32 each |
//	Blocks: count uint32, then ranks uint32 and the names as words each |
//	Universe int32 | Leader, Parent: length uint16, bytes each
//
// Local is not sent: it is the ranks that have the same Host as this one.

func (j *Job) encode() []byte {
	w := frame.New(kindWelcome)
	w.U32(uint32(j.Rank)).U32(uint32(j.Size)).U32(uint32(j.AppNum)).U32(uint32(j.Cores)).Raw(j.Secret[:])
	w.Text(j.ID).Text(j.Fabric).Text(j.Listen)
	w.U32(uint32(len(j.Hosts)))
	for _, name := range j.Hosts {
		w.Text(name)
	}
	var runs [][2]uint32
	for _, h := range j.Host {
		if k := len(runs) - 1; k >= 0 && runs[k][0] == uint32(h) {
			runs[k][1]++
		} else {
			runs = append(runs, [2]uint32{uint32(h), 1})
		}
	}
	w.U32(uint32(len(runs)))
	for _, r := range runs {
		w.U32(r[0]).U32(r[1])
	}
	w.U32(uint32(len(j.Blocks)))
	for _, b := range j.Blocks {
		w.U32(uint32(b.Ranks)).Words(b.Psets)
	}
	return w.U32(uint32(int32(j.Universe))).Text(j.Leader).Text(j.Parent).Bytes()
}

func decodeJob(body []byte) (*Job, error) {
	r := frame.Body{Left: body}
	rank, size, app, cores := r.U32(), r.U32(), r.U32(), r.U32()
	j := &Job{Rank: int(rank), Size: int(size), AppNum: int(app), Cores: int(cores)}
	copy(j.Secret[:], r.Take(len(j.Secret)))
	j.ID, j.Fabric, j.Listen = r.Text(), r.Text(), r.Text()
	if r.Bad || size == 0 || size > MaxRanks || rank >= size || app > MaxRanks || cores > 1<<24 {
		return nil, fmt.Errorf("boot: job description of %d bytes with rank %d of %d", len(body), rank, size)
	}
	hosts := r.U32()
	for n := hosts; n > 0 && !r.Bad; n-- {
		if name := r.Text(); len(name) > 0 && len(name) <= MaxName {
			j.Hosts = append(j.Hosts, name)
		} else {
			r.Bad = true
		}
	}
	for n := r.U32(); n > 0 && !r.Bad; n-- {
		host, ranks := r.U32(), r.U32()
		if r.Bad || host >= hosts || ranks == 0 || ranks > size-uint32(len(j.Host)) {
			return nil, fmt.Errorf("boot: job description with %d ranks after %d of %d on host %d of %d", ranks, len(j.Host), size, host, hosts)
		}
		for range ranks {
			j.Host = append(j.Host, int32(host))
		}
	}
	ranks := 0
	for n := r.U32(); n > 0 && !r.Bad; n-- {
		b := Block{int(r.U32()), r.Words()}
		ranks += b.Ranks
		if b.Ranks < 1 || ranks > j.Size || slices.ContainsFunc(b.Psets, func(s string) bool { return s == "" || len(s) > MaxPset }) {
			r.Bad = true
		}
		j.Blocks = append(j.Blocks, b)
	}
	if j.Blocks != nil && ranks != j.Size {
		r.Bad = true
	}
	j.Universe = int(int32(r.U32()))
	j.Leader, j.Parent = r.Text(), r.Text()
	if !r.Done() || len(j.Host) != j.Size {
		return nil, fmt.Errorf("boot: job description of %d bytes that places %d of %d ranks on %d hosts", len(body), len(j.Host), size, hosts)
	}
	for i, h := range j.Host {
		if h == j.Host[rank] {
			j.Local = append(j.Local, i)
		}
	}
	return j, nil
}
