package mpi

// awaits reports whether the call makes requests that wait for notification counters of the
// caller's own rank.
func (k call) awaits() bool { return k >= callWaitNotify && k <= callNotifyReach }

// receiving are the calls whose peer is a source.
var receiving = [callCollective]bool{
	callRecv: true, callIrecv: true, callRecvInit: true, callPrecvInit: true, callParrived: true,
	callRecvSlice: true, callMrecv: true, callImrecv: true,
	callProbe: true, callIprobe: true, callMprobe: true, callImprobe: true,
	callSendrecv: true, callIsendrecv: true, callSendrecvReplace: true, callIsendrecvReplace: true,
	callGet: true, callRget: true, callGetNotify: true, callRgetNotify: true,
}

// receives reports whether the peer of the call is a source.
func (k call) receives() bool { return k < callCollective && receiving[k] }

// oneSided reports whether the call is a one-sided one, as opposed to those that every object
// has.
func (k call) oneSided() bool { return k >= callWinCreate && k <= callSync }

// attended reports whether requests of the call take some action when the program waits for or
// tests them.
func (k call) attended() bool { return k == callSyncOpsInit || k == callSyncObjectInit }

// message reports whether requests of the call stand for one message, sent or received once.
func (k call) message() bool { return k >= callIsend && k <= callIrecv }
