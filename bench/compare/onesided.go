package main

import "fmt"

// oneSidedRows are the figures of one-sided communication.
func oneSidedRows() []row {
	var rows []row
	best := func(f float64) []bar { return []bar{{factor: f, of: "best"}} }
	add := func(r row) {
		r.ranks = 2
		rows = append(rows, r)
	}
	rows = append(rows, windowRows()...)
	for _, fabric := range []string{"shm", "tcp"} {
		moved := []int{64 << 10, 1 << 20, 4 << 20}
		if fabric == "tcp" { // 64 operations of 4 MiB in flight take a peer a second each time
			moved = moved[:2]
		}
		for _, bench := range []string{"put", "get"} {
			for _, size := range moved {
				r := row{name: fmt.Sprintf("%s %s %s in flight", bench, fabric, bytesText(size)), bench: bench, fabric: fabric,
					size: size, variant: "allocate", unit: "MB/s", more: true, bars: best(1)}
				if size == 1<<20 && fabric == "shm" {
					r.limit = "copy 1 MiB"
				} else if size == 1<<20 {
					r.limit = "sockets 1 MiB"
				}
				add(r)
			}
		}
		sums := []int{8, 4 << 10, 32 << 10, 64 << 10, 256 << 10}
		single := best(0.7)
		if fabric == "tcp" {
			sums, single = []int{8, 4 << 10, 64 << 10}, best(1)
		}
		for _, size := range sums {
			add(row{name: fmt.Sprintf("acc %s float64 %s", fabric, bytesText(size)), bench: "acc", fabric: fabric, args: "-types float64",
				size: size, variant: "allocate float64", unit: "us", bars: best(1)})
		}
		for _, t := range []string{"int8", "int16", "int32", "int64", "float32"} {
			for _, size := range []int{8, 64 << 10} {
				if fabric == "shm" {
					add(row{name: fmt.Sprintf("acc shm %s %s", t, bytesText(size)), bench: "acc", fabric: "shm", args: "-types int8,int16,int32,int64,float32",
						size: size, variant: "allocate " + t, unit: "us", bars: best(1)})
				}
			}
		}
		for _, size := range []int{8, 32 << 10} {
			add(row{name: fmt.Sprintf("getacc %s float64 %s", fabric, bytesText(size)), bench: "getacc", fabric: fabric,
				size: size, variant: "allocate float64", unit: "us", bars: best(1)})
		}
		limit := map[string]string{"shm": "atomic add", "tcp": "sockets there and back"}[fabric]
		for _, t := range []string{"int64", "float64"} {
			add(row{name: fmt.Sprintf("fop %s %s", fabric, t), bench: "fop", fabric: fabric, args: "-types int64,float64",
				size: 8, variant: "allocate " + t, unit: "us", limit: limit, bars: single})
		}
		add(row{name: "cas " + fabric, bench: "cas", fabric: fabric, size: 8, variant: "allocate int64", unit: "us", limit: limit, bars: single})
		fence := row{name: "fence " + fabric, bench: "fence", fabric: fabric, size: 8, variant: "allocate", unit: "us", bars: best(1)}
		if fabric == "shm" {
			fence.limit, fence.bars = "barrier 2", best(0.8)
		}
		add(fence)
		add(row{name: "pscw " + fabric, bench: "pscw", fabric: fabric, size: 8, variant: "allocate", unit: "us", bars: best(1)})
		if fabric == "shm" {
			add(row{name: "pscw shm create-heap", bench: "pscw", fabric: fabric, args: "-win create-heap", size: 8, variant: "create-heap", unit: "us", bars: best(0.8)})
		}
		for _, lock := range []string{"exclusive", "shared"} {
			r := row{name: fmt.Sprintf("lock %s %s", fabric, lock), bench: "lock", fabric: fabric, size: 8, variant: "allocate " + lock, unit: "us", bars: best(1)}
			if fabric == "shm" {
				r.library = 0.8
			}
			add(r)
		}
		for _, lock := range []string{"exclusive", "shared"} {
			add(row{name: fmt.Sprintf("lock, get %s %s", fabric, lock), bench: "lockget", fabric: fabric, size: 8, variant: "allocate " + lock, unit: "us", bars: best(1)})
		}
		add(row{name: "rput, wait " + fabric, bench: "rput", fabric: fabric, size: 8, variant: "allocate", unit: "us", bars: best(1)})
		rows = append(rows, workerRows(fabric)...)
	}
	return append(rows, passiveRows()...)
}

// windowRows are puts and gets of 8 bytes to all kinds of windows.
func windowRows() []row {
	var rows []row
	for _, fabric := range []string{"shm", "tcp"} {
		kinds, args := []string{"allocate", "shared", "create", "dynamic", "create-heap", "dynamic-heap"}, "-win allocate,shared,create,dynamic,create-heap,dynamic-heap"
		if fabric == "tcp" { // all kinds take the same path
			kinds, args = []string{"allocate", "dynamic-heap"}, "-win allocate,dynamic-heap"
		}
		for _, bench := range []string{"put", "get"} {
			name := func(kind string) string { return fmt.Sprintf("%s %s %s 8 B", bench, fabric, kind) }
			for _, kind := range kinds {
				r := row{name: name(kind), bench: bench, fabric: fabric, ranks: 2, args: args, size: 8, variant: kind, unit: "us"}
				switch {
				case fabric == "tcp" && bench == "put":
					r.bars, r.limit = []bar{{factor: 0.7, of: "best"}}, "sockets there and back"
				case fabric == "tcp":
					r.bars, r.limit = []bar{{factor: 1, of: "best"}}, "sockets there and back"
				case kind == "allocate":
					r.bars, r.limit = []bar{{factor: 0.5, of: "best"}}, "copy 8 B, fence"
					if bench == "put" {
						r.library = 1
					}
				case kind == "create" || kind == "dynamic": // over memory of AllocMem: within 10 % or 5 ns of allocate
					r.bars = []bar{{factor: 1.1, of: name("allocate"), more: 0.005}}
				case kind != "shared":
					r.bars, r.limit = []bar{{factor: 0.8, of: "best"}}, "process_vm_writev 8 B"
				}
				rows = append(rows, r)
			}
			if bench == "put" {
				rows = append(rows, row{name: "put " + fabric + " 8 B in flight", bench: bench, fabric: fabric, ranks: 2, args: args, size: 8,
					variant: "allocate", unit: "M/s", more: true, bars: []bar{{factor: 1, of: "best"}}})
			}
		}
	}
	return rows
}

// workerRows are operations of many workers at once, each with a flush of its own: puts over both
// fabrics, and over tcp also the rate of all puts, gets, fetch-and-ops and compare-and-swaps.
func workerRows(fabric string) []row {
	base := row{bench: "mtflush", fabric: fabric, ranks: 2, args: "-workers 1,32", size: -1}
	var rows []row
	for _, workers := range []int{1, 32} {
		r := base
		r.name, r.variant, r.unit = fmt.Sprintf("mtflush %s %d", fabric, workers), fmt.Sprintf("allocate %d", workers), "us"
		if workers > 1 {
			r.bars = []bar{{factor: map[string]float64{"shm": 0.5, "tcp": 0.3}[fabric], of: "best"}}
		}
		rows = append(rows, r)
	}
	if fabric == "tcp" {
		for _, r := range rows[:2] {
			r.name, r.unit, r.more = r.name+" rate", "M/s", true
			r.bars = nil
			rows = append(rows, r)
		}
		rows[3].bars = []bar{{factor: 4, of: rows[2].name}}
		for _, op := range []string{"get", "fop", "cas"} { // their requests and answers share system calls
			for _, workers := range []int{1, 8} {
				rows = append(rows, row{name: fmt.Sprintf("mtflush tcp %s %d", op, workers), bench: "mtflush", fabric: fabric, ranks: 2,
					args: "-workers 1,8 -op " + op, size: -1, variant: fmt.Sprintf("allocate %s %d", op, workers), unit: "us"})
			}
			rows[len(rows)-1].bars = []bar{{factor: 0.7, of: "best"}}
		}
	}
	return rows
}

// passiveRows are operations on a target that computes and does not call MPI meanwhile. Where the origin
// has mapped the memory, an operation may take at most twice as long as on an attentive target. Other
// operations are served by a thread of the target or by the kernel. The thread needs a core: it gets one at
// once while a core is idle, so the bound is 50 us, and 25 ms while all cores are busy. Operations by the
// kernel have the bound of 50 us, too: an attentive target is several times faster than the kernel, so the
// factor of two does not apply.
func passiveRows() []row {
	var rows []row
	for _, fabric := range []string{"shm", "tcp"} {
		kinds, args := []string{"allocate", "create-heap", "dynamic-heap"}, "-busy-ms 100 -win allocate,create-heap,dynamic-heap"
		if fabric == "tcp" {
			kinds, args = []string{"allocate", "dynamic-heap"}, "-busy-ms 100 -win allocate,dynamic-heap"
		}
		for _, kind := range kinds {
			for _, op := range []string{"put", "get", "acc", "fop"} {
				r := row{name: fmt.Sprintf("passive %s %s %s", fabric, kind, op), bench: "passive", fabric: fabric, ranks: 2, args: args, size: -1,
					variant: fmt.Sprintf("%s %s busy", kind, op), unit: "us"}
				if served := fabric == "tcp" || kind != "allocate" && (op == "acc" || op == "fop"); served {
					all := r
					all.name, all.variant = r.name+", all cores", fmt.Sprintf("%s %s all busy", kind, op)
					r.bars, all.bars = []bar{{factor: 50, of: "us"}}, []bar{{factor: 25000, of: "us"}}
					rows = append(rows, r, all)
					continue
				}
				calm := r
				calm.name, calm.of = r.name+", attentive", "attentive"
				r.bars = []bar{{factor: 2, of: calm.name}}
				if kind != "allocate" {
					r.bars = []bar{{factor: 50, of: "us"}}
				}
				rows = append(rows, r, calm)
			}
		}
	}
	return rows
}
