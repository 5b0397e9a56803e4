// Package examples holds no code: its folders are programs, in the order to
// read them.
//
//	hello          a line from every rank
//	ring           send and receive: a token on its way round
//	pi             reduce: an integral cut into strips
//	masterworker   probe and receive from anybody: tasks on demand
//	mandelbrot     a pool: rows of a picture are tasks for whichever worker is free
//	wordcount      gather: files shared out, what each counts put together
//	samplesort     alltoallv: lines sorted that no rank has room for alone
//	pipeline       partitioned messages: goroutines pass partitions on as they come
//	columns        datatypes: the columns of a matrix, far apart in memory
//	particles      datatypes: structs that move from rank to rank
//	hashtable      one-sided: a table in the memory of all, atomic operations
//	mcslock        one-sided: a lock that is a queue, each rank waits for a word of its own
//	mpmcqueue      one-sided: first in, first out, for producers and consumers on all ranks
//	worksteal      one-sided: ranks without work take some from others
//	globalarray    one-sided: a matrix over all ranks, accessed by patches
//	signals        notified access: tiles through a pipeline, in three ways
//	taskqueue      ordered views: a queue of tasks for goroutines of all ranks
//	pagerank       one-sided: contributions to vertices of others, accumulated
//	life3d         neighbourhood collectives: Conway's game in a cube, a datatype for each face
//	records        files: a log of all ranks by the shared pointer, sorted by an ordered write
//	matrixfile     files: a distributed matrix in one file, read back transposed
//	spawn          spawn: workers that the program starts while it runs
//	store          ports: a server, and clients that connect to it while it runs
//	heat           a whole application: diffusion on a picture, cut into blocks, with checkpoints
//
// Each runs with
//
//	go run ./cmd/halo run -n 4 ./examples/NAME
package examples
