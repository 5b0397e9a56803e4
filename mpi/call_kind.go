package mpi

// awaits reports whether the call makes requests that wait for notification counters of the
// caller's own rank.
func (k call) awaits() bool { return k >= callWaitNotify && k <= callNotifyReach }

// receives reports whether the peer of the call is a source.
func (k call) receives() bool {
	switch k {
	case callRecv, callIrecv, callRecvInit, callPrecvInit, callParrived, callRecvSlice, callMrecv, callImrecv,
		callProbe, callIprobe, callMprobe, callImprobe,
		callSendrecv, callIsendrecv, callSendrecvReplace, callIsendrecvReplace,
		callGet, callRget, callGetNotify, callRgetNotify:
		return true
	}
	return false
}

// oneSided reports whether the call is a one-sided one, as opposed to those that every object
// has.
func (k call) oneSided() bool { return k >= callWinCreate && k <= callSync }

// attended reports whether requests of the call take some action when the program waits for or
// tests them.
func (k call) attended() bool { return k == callSyncOpsInit || k == callSyncObjectInit }
