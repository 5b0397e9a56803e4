#ifndef HALO_CLOCK_H
#define HALO_CLOCK_H

/* MPI_Wtime */
double halo_wtime(void);

#endif
