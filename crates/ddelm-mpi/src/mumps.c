/* The few calls of MUMPS that the interface system needs.
 *
 * The structure of MUMPS changes from version to version: only its own header knows the layout, so it stays on this
 * side, and Rust sees a pointer. Numbers in brackets refer to the sections of the MUMPS 5.5 users' guide.
 */

#include <stdlib.h>
#include <dmumps_c.h>

/* The communicator of all ranks [5.3]. */
#define WORLD (-987654)

/* Controls have the numbers of the users' guide. */
#define ICNTL(k) icntl[(k) - 1]
#define INFOG(k) infog[(k) - 1]

/* Starts an instance; NULL without memory. */
DMUMPS_STRUC_C *ddelm_mumps_start(void)
{
    DMUMPS_STRUC_C *id = calloc(1, sizeof *id);
    if (!id)
        return NULL;
    id->job = -1;
    id->par = 1; /* rank 0 works as well */
    id->sym = 0; /* the balance of fluxes is not symmetric */
    id->comm_fortran = WORLD;
    dmumps_c(id);
    id->ICNTL(1) = id->ICNTL(2) = id->ICNTL(3) = -1; /* silent: errors are returned */
    id->ICNTL(4) = 0;
    id->ICNTL(18) = 3; /* every rank gives its own entries [5.4.2] */
    return id;
}

/* Analyses and factors the sum of the entries of all ranks, numbers from 1. `order` (rank 0 only) is
 * the position of every unknown in the elimination. Returns INFOG(1), the same on all ranks. */
int ddelm_mumps_factor(DMUMPS_STRUC_C *id, MUMPS_INT n, MUMPS_INT8 count, MUMPS_INT *rows, MUMPS_INT *columns,
                       double *values, MUMPS_INT *order)
{
    id->n = n;
    id->nnz_loc = count;
    id->irn_loc = rows;
    id->jcn_loc = columns;
    id->a_loc = values;
    id->perm_in = order;
    id->ICNTL(7) = 1; /* the order is given [5.5.1] */
    id->ICNTL(6) = 0; /* ... and columns stay where they are */
    id->ICNTL(28) = 1;
    id->job = 1;
    dmumps_c(id);
    /* -9: the estimate of the workspace was too small; ICNTL(14) is what to add, in per cent. */
    for (id->job = 2; id->INFOG(1) >= 0 || id->INFOG(1) == -9; id->ICNTL(14) *= 2) {
        dmumps_c(id);
        if (id->INFOG(1) != -9 || id->ICNTL(14) > 1000)
            break;
    }
    /* The entries belong to the caller. */
    id->irn_loc = id->jcn_loc = id->perm_in = NULL;
    id->a_loc = NULL;
    return id->INFOG(1);
}

/* Solves in place; `rhs` is on rank 0, column by column. Returns INFOG(1). */
int ddelm_mumps_solve(DMUMPS_STRUC_C *id, double *rhs, MUMPS_INT columns)
{
    id->rhs = rhs;
    id->nrhs = columns;
    id->lrhs = id->n;
    id->job = 3;
    dmumps_c(id);
    id->rhs = NULL;
    return id->INFOG(1);
}

/* Entries of the factors over all ranks; MUMPS gives millions as a negative number. */
double ddelm_mumps_nonzeros(const DMUMPS_STRUC_C *id)
{
    double n = id->INFOG(29);
    return n < 0 ? -1e6 * n : n;
}

/* What INFOG(2) says about an error. */
int ddelm_mumps_detail(const DMUMPS_STRUC_C *id)
{
    return id->INFOG(2);
}

/* Ends an instance. */
void ddelm_mumps_end(DMUMPS_STRUC_C *id)
{
    id->job = -2;
    dmumps_c(id);
    free(id);
}
