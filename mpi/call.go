package mpi

// call names the functions of the package in errors: a request remembers which
// call made it.
type call uint8

const (
	callSend call = iota
	callSsend
	callBsend
	callRsend
	callRecv
	callIsend
	callIssend
	callIbsend
	callIrsend
	callIrecv
	callSendInit
	callSsendInit
	callBsendInit
	callRsendInit
	callRecvInit
	callSendrecv
	callIsendrecv
	callSendrecvReplace
	callIsendrecvReplace
	callRecvSlice
	callMrecv
	callImrecv
	callProbe
	callIprobe
	callMprobe
	callImprobe
	callBufferAttach
	callBufferDetach
	callBufferFlush
	callIbufferFlush
	callAttachBuffer
	callDetachBuffer
	callFlushBuffer
	callIflushBuffer
	callBarrier
	callBcast
	callReduce
	callAllreduce
	callGather
	callDup
	callSplit
	callFree
	callFinalize
	callCompare
	callCount
)

// String is the Go name of the call.
func (k call) String() string {
	return [callCount]string{
		"Send", "Ssend", "Bsend", "Rsend", "Recv",
		"Isend", "Issend", "Ibsend", "Irsend", "Irecv",
		"SendInit", "SsendInit", "BsendInit", "RsendInit", "RecvInit",
		"Sendrecv", "Isendrecv", "SendrecvReplace", "IsendrecvReplace",
		"RecvSlice", "Mrecv", "Imrecv", "Probe", "Iprobe", "Mprobe", "Improbe",
		"BufferAttach", "BufferDetach", "BufferFlush", "IbufferFlush",
		"AttachBuffer", "DetachBuffer", "FlushBuffer", "IflushBuffer",
		"Barrier", "Bcast", "Reduce", "Allreduce", "Gather",
		"Dup", "Split", "Free", "Finalize", "Compare",
	}[k]
}

// receives reports whether the peer of the call is a source.
func (k call) receives() bool {
	switch k {
	case callRecv, callIrecv, callRecvInit, callRecvSlice, callMrecv, callImrecv,
		callProbe, callIprobe, callMprobe, callImprobe,
		callSendrecv, callIsendrecv, callSendrecvReplace, callIsendrecvReplace:
		return true
	}
	return false
}
