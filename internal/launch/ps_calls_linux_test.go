package launch

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// namedCalls are the calls in which ranks of testdata/hang block, each in a pair with the last rank, and what halo ps
// says of them: "" if that is the name of the call on the communicator. A wait for a request has the name of the
// operation, without the I of calls that do not block and the Init of persistent ones.
func namedCalls() map[string]string {
	calls := map[string]string{
		"Send": "Send on pair to 0 tag 1", "Ssend": "Ssend on pair to 0 tag 1", "Rsend": "Rsend on pair to 0 tag 1",
		"Isend": "Send on pair to 0 tag 1", "Issend": "Ssend on pair to 0 tag 1", "Irsend": "Rsend on pair to 0 tag 1",
		"SendInit": "Send on pair to 0 tag 1", "SsendInit": "Ssend on pair to 0 tag 1", "RsendInit": "Rsend on pair to 0 tag 1",
		"Recv": "Recv on pair from 0 tag 1", "Irecv": "Recv on pair from 0 tag 1", "RecvInit": "Recv on pair from 0 tag 1",
		"RecvSlice": "RecvSlice on pair from 0 tag 1", "Probe": "Probe on pair from 0 tag 1", "Mprobe": "Mprobe on pair from 0 tag 1",
		"Sendrecv": "Sendrecv on pair from 0 tag 1", "Isendrecv": "Sendrecv on pair from 0 tag 1",
		"SendrecvReplace": "SendrecvReplace on pair from 0 tag 1", "IsendrecvReplace": "SendrecvReplace on pair from 0 tag 1",
		"PrecvInit": "PrecvInit on pair from 0 tag 1, 0 of 2 partitions arrived",
		"PsendInit": "PsendInit on pair to 0 tag 1, 2 of 2 partitions ready",
		"Waitall":   "Recv on pair from 0 tag 1", "Waitany": "the first of 2 requests, one is Recv on pair from 0 tag 1",
		"Waitsome":     "the first of 2 requests, one is Recv on pair from 0 tag 1",
		"BufferDetach": "BufferDetach", "BufferFlush": "", "IbufferFlush": "BufferFlush on pair", "StartGrequest": "generalized request on pair",
		"AllgatherOne": "Allgather on pair", "AllreduceOne": "Allreduce on pair", "BcastOne": "Bcast on pair", "ExscanOne": "Exscan on pair",
		"Sub": "CartSub on pair", "IntercommCreate": "IntercommCreate on pair from 0 tag 4", "CommFromGroup": "CommFromGroup",
		"inter Barrier": "Barrier on pair", "inter Bcast": "Bcast on pair", "inter Allreduce": "Allreduce on pair",
		"inter Alltoall": "Alltoall on pair", "inter Split": "Split on pair",
		"Complete": "Complete on pair, rank 0", "Wait": "Wait on pair, rank 0",
		"SyncObjectInit": "SyncObjectInit on pair, counter 65535 at 0 of 1", "WaitNotify": "WaitNotify on pair, counter 0 at 0 of 1",
		"IwaitNotify": "IwaitNotify on pair, counter 0 at 0 of 1", "NotifyInit": "NotifyInit on pair, counter 0 at 0 of 1",
		"NotifyReach": "NotifyReach on pair, counter 0 at 0 of 1",
	}
	for _, name := range strings.Fields(`Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw
		Reduce Allreduce ReduceScatterBlock ReduceScatter Scan Exscan
		NeighborAllgather NeighborAllgatherv NeighborAlltoall NeighborAlltoallv NeighborAlltoallw`) {
		calls[name] = ""
		calls["I"+strings.ToLower(name[:1])+name[1:]] = name + " on pair"
		calls[name+"Init"] = name + " on pair"
	}
	for _, name := range strings.Fields(`Dup Idup Split SplitType Create CreateGroup CartCreate GraphCreate DistGraphCreate
		DistGraphCreateAdjacent Merge Disconnect Spawn Connect Accept
		WinCreate WinAllocate WinAllocateShared WinCreateDynamic WinChangeComm Fence Free OpenFile`) {
		calls[name] = ""
	}
	for _, name := range strings.Fields(`Close SetView SetSize Preallocate SetAtomicity Sync SeekShared ReadAll WriteAll ReadAtAll
		WriteAtAll ReadOrdered WriteOrdered IreadAll IwriteAll IreadAtAll IwriteAtAll ReadAllEnd WriteAtAllEnd WriteOrderedEnd`) {
		calls[name] = name
	}
	return calls
}

// waitNames runs a job in which each rank blocks in another of the calls, and compares what halo ps says.
func waitNames(t *testing.T, fabric string, calls map[string]string) {
	t.Helper()
	var names []string
	for name := range calls {
		names = append(names, name)
	}
	slices.Sort(names)
	for part := range slices.Chunk(names, 32) {
		args := []string{"-fabric", fabric, "-n", strconv.Itoa(len(part) + 1), hangPath}
		var want []string
		for _, name := range part {
			args = append(args, "call:"+name)
			says := calls[name]
			if says == "" {
				says = name + " on pair"
			}
			want = append(want, "waiting: "+says+";")
		}
		r := newRun(t, append(args, "calls")...)
		r.cmd.Env = append(r.cmd.Env, "HANG_DIR="+t.TempDir())
		r.start()
		r.awaitPs(append(want, "running:")...)
		r.stop()
	}
}

// Promise F6: halo ps says what the program has called, for each call that blocks: not the operations of which
// the call consists.
func TestF6_EveryCallHasItsName(t *testing.T) {
	calls := namedCalls()
	calls["Unlock"], calls["UnlockAll"] = "Lock, rank 0", "LockAll, rank 0" // where memory is mapped the lock itself waits
	waitNames(t, "shm", calls)
}

// Over sockets a lock is taken by the call that needs it.
func TestF6_CallsOverSocketsHaveTheirNames(t *testing.T) {
	calls := map[string]string{"UnlockAll": "LockAll, rank 0", "Barrier": "", "Dup": "", "Fence": "", "WinCreate": "", "SetView": "SetView"}
	for _, name := range []string{"Unlock", "Flush", "FlushAll", "Rflush", "Rget", "RfetchAndOp"} {
		calls[name] = name + ", for the lock of rank 0"
	}
	waitNames(t, "tcp", calls)
}
