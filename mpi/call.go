package mpi

// call identifies a function or method of the package. Errors name it, and a request remembers
// the call that made it. Collectives have the numbers after all others: see collectiveCall.
type call uint16

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
	callPsendInit
	callPrecvInit
	callPready
	callPreadyRange
	callPreadyList
	callParrived
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
	callDup
	callSplit
	callFree
	callDisconnect
	callFinalize
	callCompare
	callSetErrhandler
	callGetErrhandler
	callCallErrhandler
	callSetName
	callGroup
	callDupWithInfo
	callIdup
	callIdupWithInfo
	callCreate
	callCreateGroup
	callIntercommCreate
	callMerge
	callRemoteGroup
	callSplitType
	callCartCreate
	callCartMap
	callCartCoords
	callCartRank
	callCartShift
	callCartSub
	callGraphCreate
	callGraphMap
	callGraphNeighbors
	callDistGraphCreate
	callDistGraphCreateAdjacent
	callSetInfo
	callGetInfo
	callSetAttr
	callGetAttr
	callDeleteAttr
	callAllocMem
	callFreeMem
	callPack
	callUnpack
	callPackSize
	callWinCreate
	callWinAllocate
	callWinAllocateShared
	callWinCreateDynamic
	callAttach
	callDetach
	callMemhandleCreate
	callMemhandleRelease
	callWinFromMemhandle
	callSharedQuery
	callShared
	callPut
	callGet
	callAccumulate
	callGetAccumulate
	callFetchAndOp
	callCompareAndSwap
	callPutNotify
	callGetNotify
	callAccumulateNotify
	callGetAccumulateNotify
	callFetchAndOpNotify
	callCompareAndSwapNotify
	callRputNotify
	callRgetNotify
	callRaccumulateNotify
	callRgetAccumulateNotify
	callNotifySetNum
	callNotifyGet
	callNotifySet
	callWaitNotify
	callIwaitNotify
	callNotifyInit
	callNotifyReach
	callRput
	callRget
	callRaccumulate
	callRgetAccumulate
	callRrput
	callRraccumulate
	callRrgetAccumulate
	callRflush
	callRflushAll
	callRfetchAndOp
	callRcompareAndSwap
	callFetchOp
	callCompareSwap
	callOrder
	callOrderAll
	callOpIntrinsic
	callAllocSyncObjects
	callFreeSyncObjects
	callSyncOpsInit
	callSyncObjectInit
	callWinChangeComm
	callFence
	callPost
	callStart
	callComplete
	callWinWait
	callWinTest
	callLock
	callUnlock
	callLockAll
	callUnlockAll
	callFlush
	callFlushAll
	callFlushLocal
	callFlushLocalAll
	callSync
	callLoad
	callStore
	callReading
	callWriting
	callStartGrequest
	callOpenSession
	callPsets
	callPsetInfo
	callCommFromGroup
	callIntercommFromGroups
	callOpenFile
	callFileClose
	callDeleteFile
	callSetSize
	callPreallocate
	callFileSize
	callFileSync
	callSeek
	callFilePosition
	callByteOffset
	callFileTypeExtent
	callSetView
	callGetView
	callSetAtomicity
	callGetAtomicity
	callRegisterDatarep
	callSeekShared
	callPositionShared
	callReadAt
	callIreadAt
	callReadAtAll
	callIreadAtAll
	callRead
	callIread
	callReadAll
	callIreadAll
	callReadShared
	callIreadShared
	callReadOrdered
	callReadAtAllBegin
	callReadAtAllEnd
	callReadAllBegin
	callReadAllEnd
	callReadOrderedBegin
	callReadOrderedEnd
	callWriteAt
	callIwriteAt
	callWriteAtAll
	callIwriteAtAll
	callWrite
	callIwrite
	callWriteAll
	callIwriteAll
	callWriteShared
	callIwriteShared
	callWriteOrdered
	callWriteAtAllBegin
	callWriteAtAllEnd
	callWriteAllBegin
	callWriteAllEnd
	callWriteOrderedBegin
	callWriteOrderedEnd
	callCollective // the first of the collectives
)

// String is the Go name of the call.
func (k call) String() string {
	if k >= callCollective {
		return k.collective()
	}
	return [callCollective]string{
		callSend:                    "Send",
		callSsend:                   "Ssend",
		callBsend:                   "Bsend",
		callRsend:                   "Rsend",
		callRecv:                    "Recv",
		callIsend:                   "Isend",
		callIssend:                  "Issend",
		callIbsend:                  "Ibsend",
		callIrsend:                  "Irsend",
		callIrecv:                   "Irecv",
		callSendInit:                "SendInit",
		callSsendInit:               "SsendInit",
		callBsendInit:               "BsendInit",
		callRsendInit:               "RsendInit",
		callRecvInit:                "RecvInit",
		callPsendInit:               "PsendInit",
		callPrecvInit:               "PrecvInit",
		callPready:                  "Pready",
		callPreadyRange:             "PreadyRange",
		callPreadyList:              "PreadyList",
		callParrived:                "Parrived",
		callSendrecv:                "Sendrecv",
		callIsendrecv:               "Isendrecv",
		callSendrecvReplace:         "SendrecvReplace",
		callIsendrecvReplace:        "IsendrecvReplace",
		callRecvSlice:               "RecvSlice",
		callMrecv:                   "Mrecv",
		callImrecv:                  "Imrecv",
		callProbe:                   "Probe",
		callIprobe:                  "Iprobe",
		callMprobe:                  "Mprobe",
		callImprobe:                 "Improbe",
		callBufferAttach:            "BufferAttach",
		callBufferDetach:            "BufferDetach",
		callBufferFlush:             "BufferFlush",
		callIbufferFlush:            "IbufferFlush",
		callAttachBuffer:            "AttachBuffer",
		callDetachBuffer:            "DetachBuffer",
		callFlushBuffer:             "FlushBuffer",
		callIflushBuffer:            "IflushBuffer",
		callDup:                     "Dup",
		callSplit:                   "Split",
		callDisconnect:              "Disconnect",
		callFree:                    "Free",
		callFinalize:                "Finalize",
		callCompare:                 "Compare",
		callSetErrhandler:           "SetErrhandler",
		callGetErrhandler:           "Errhandler",
		callCallErrhandler:          "CallErrhandler",
		callSetName:                 "SetName",
		callGroup:                   "Group",
		callDupWithInfo:             "DupWithInfo",
		callIdup:                    "Idup",
		callIdupWithInfo:            "IdupWithInfo",
		callCreate:                  "Create",
		callCreateGroup:             "CreateGroup",
		callIntercommCreate:         "IntercommCreate",
		callMerge:                   "Merge",
		callRemoteGroup:             "RemoteGroup",
		callSplitType:               "SplitType",
		callCartCreate:              "CartCreate",
		callCartMap:                 "CartMap",
		callCartCoords:              "CartCoords",
		callCartRank:                "CartRank",
		callCartShift:               "CartShift",
		callCartSub:                 "CartSub",
		callGraphCreate:             "GraphCreate",
		callGraphMap:                "GraphMap",
		callGraphNeighbors:          "GraphNeighbors",
		callDistGraphCreate:         "DistGraphCreate",
		callDistGraphCreateAdjacent: "DistGraphCreateAdjacent",
		callSetInfo:                 "SetInfo",
		callGetInfo:                 "Info",
		callSetAttr:                 "SetAttr",
		callGetAttr:                 "GetAttr",
		callDeleteAttr:              "DeleteAttr",
		callAllocMem:                "AllocMem",
		callFreeMem:                 "FreeMem",
		callPack:                    "Pack",
		callUnpack:                  "Unpack",
		callPackSize:                "PackSize",
		callWinCreate:               "WinCreate",
		callWinAllocate:             "WinAllocate",
		callWinAllocateShared:       "WinAllocateShared",
		callWinCreateDynamic:        "WinCreateDynamic",
		callAttach:                  "Attach",
		callDetach:                  "Detach",
		callMemhandleCreate:         "MemhandleCreate",
		callMemhandleRelease:        "MemhandleRelease",
		callWinFromMemhandle:        "WinFromMemhandle",
		callSharedQuery:             "SharedQuery",
		callShared:                  "Shared",
		callPut:                     "Put",
		callGet:                     "Get",
		callAccumulate:              "Accumulate",
		callGetAccumulate:           "GetAccumulate",
		callFetchAndOp:              "FetchAndOp",
		callCompareAndSwap:          "CompareAndSwap",
		callPutNotify:               "PutNotify",
		callGetNotify:               "GetNotify",
		callAccumulateNotify:        "AccumulateNotify",
		callGetAccumulateNotify:     "GetAccumulateNotify",
		callFetchAndOpNotify:        "FetchAndOpNotify",
		callCompareAndSwapNotify:    "CompareAndSwapNotify",
		callRputNotify:              "RputNotify",
		callRgetNotify:              "RgetNotify",
		callRaccumulateNotify:       "RaccumulateNotify",
		callRgetAccumulateNotify:    "RgetAccumulateNotify",
		callNotifySetNum:            "NotifySetNum",
		callNotifyGet:               "NotifyGet",
		callNotifySet:               "NotifySet",
		callWaitNotify:              "WaitNotify",
		callIwaitNotify:             "IwaitNotify",
		callNotifyInit:              "NotifyInit",
		callNotifyReach:             "NotifyReach",
		callRput:                    "Rput",
		callRget:                    "Rget",
		callRaccumulate:             "Raccumulate",
		callRgetAccumulate:          "RgetAccumulate",
		callRrput:                   "Rrput",
		callRraccumulate:            "Rraccumulate",
		callRrgetAccumulate:         "RrgetAccumulate",
		callRflush:                  "Rflush",
		callRflushAll:               "RflushAll",
		callRfetchAndOp:             "RfetchAndOp",
		callRcompareAndSwap:         "RcompareAndSwap",
		callFetchOp:                 "FetchOp",
		callCompareSwap:             "CompareSwap",
		callOrder:                   "Order",
		callOrderAll:                "OrderAll",
		callOpIntrinsic:             "OpIntrinsic",
		callAllocSyncObjects:        "AllocSyncObjects",
		callFreeSyncObjects:         "FreeSyncObjects",
		callSyncOpsInit:             "SyncOpsInit",
		callSyncObjectInit:          "SyncObjectInit",
		callWinChangeComm:           "WinChangeComm",
		callFence:                   "Fence",
		callPost:                    "Post",
		callStart:                   "Start",
		callComplete:                "Complete",
		callWinWait:                 "Wait",
		callWinTest:                 "Test",
		callLock:                    "Lock",
		callUnlock:                  "Unlock",
		callLockAll:                 "LockAll",
		callUnlockAll:               "UnlockAll",
		callFlush:                   "Flush",
		callFlushAll:                "FlushAll",
		callFlushLocal:              "FlushLocal",
		callFlushLocalAll:           "FlushLocalAll",
		callSync:                    "Sync",
		callLoad:                    "Load",
		callStore:                   "Store",
		callReading:                 "Reading",
		callWriting:                 "Writing",
		callStartGrequest:           "StartGrequest",
		callOpenSession:             "OpenSession",
		callPsets:                   "Psets",
		callPsetInfo:                "PsetInfo",
		callCommFromGroup:           "CommFromGroup",
		callIntercommFromGroups:     "IntercommFromGroups",
		callOpenFile:                "OpenFile",
		callFileClose:               "Close",
		callDeleteFile:              "DeleteFile",
		callSetSize:                 "SetSize",
		callPreallocate:             "Preallocate",
		callFileSize:                "Size",
		callFileSync:                "Sync",
		callSeek:                    "Seek",
		callFilePosition:            "Position",
		callByteOffset:              "ByteOffset",
		callFileTypeExtent:          "TypeExtent",
		callSetView:                 "SetView",
		callGetView:                 "View",
		callSetAtomicity:            "SetAtomicity",
		callGetAtomicity:            "Atomicity",
		callRegisterDatarep:         "RegisterDatarep",
		callSeekShared:              "SeekShared",
		callPositionShared:          "PositionShared",
		callReadAt:                  "ReadAt",
		callIreadAt:                 "IreadAt",
		callReadAtAll:               "ReadAtAll",
		callIreadAtAll:              "IreadAtAll",
		callRead:                    "Read",
		callIread:                   "Iread",
		callReadAll:                 "ReadAll",
		callIreadAll:                "IreadAll",
		callReadShared:              "ReadShared",
		callIreadShared:             "IreadShared",
		callReadOrdered:             "ReadOrdered",
		callReadAtAllBegin:          "ReadAtAllBegin",
		callReadAtAllEnd:            "ReadAtAllEnd",
		callReadAllBegin:            "ReadAllBegin",
		callReadAllEnd:              "ReadAllEnd",
		callReadOrderedBegin:        "ReadOrderedBegin",
		callReadOrderedEnd:          "ReadOrderedEnd",
		callWriteAt:                 "WriteAt",
		callIwriteAt:                "IwriteAt",
		callWriteAtAll:              "WriteAtAll",
		callIwriteAtAll:             "IwriteAtAll",
		callWrite:                   "Write",
		callIwrite:                  "Iwrite",
		callWriteAll:                "WriteAll",
		callIwriteAll:               "IwriteAll",
		callWriteShared:             "WriteShared",
		callIwriteShared:            "IwriteShared",
		callWriteOrdered:            "WriteOrdered",
		callWriteAtAllBegin:         "WriteAtAllBegin",
		callWriteAtAllEnd:           "WriteAtAllEnd",
		callWriteAllBegin:           "WriteAllBegin",
		callWriteAllEnd:             "WriteAllEnd",
		callWriteOrderedBegin:       "WriteOrderedBegin",
		callWriteOrderedEnd:         "WriteOrderedEnd",
	}[k]
}
