//! MUMPS, the multifrontal solver for distributed matrices: a safe face for the calls in `mumps.c`.
//!
//! All functions are collective. MUMPS works on the communicator of all ranks.
//!
//! # References
//! P. R. Amestoy, I. S. Duff, J.-Y. L'Excellent, J. Koster, A fully asynchronous multifrontal solver using distributed
//! dynamic scheduling, SIAM J. Matrix Anal. Appl. 23 (2001); MUMPS 5.5 users' guide.
#![expect(unsafe_code, reason = "MUMPS is a C library; every call is in this file, with what makes it sound")]

use std::ffi::c_int;
use std::ptr::{NonNull, null_mut};

use ddelm::{Error, Result};

/// The structure of MUMPS, known to `mumps.c` alone.
#[repr(C)]
struct Structure {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn ddelm_mumps_start() -> *mut Structure;
    fn ddelm_mumps_factor(
        id: *mut Structure,
        n: c_int,
        count: i64,
        rows: *mut c_int,
        columns: *mut c_int,
        values: *mut f64,
        order: *mut c_int,
    ) -> c_int;
    fn ddelm_mumps_solve(id: *mut Structure, rhs: *mut f64, columns: c_int) -> c_int;
    fn ddelm_mumps_nonzeros(id: *const Structure) -> f64;
    fn ddelm_mumps_detail(id: *const Structure) -> c_int;
    fn ddelm_mumps_end(id: *mut Structure);
}

/// Entries of a square matrix. Those at the same place add up, over the ranks as well.
#[derive(Debug, Default)]
pub struct Entries {
    rows: Vec<c_int>,
    columns: Vec<c_int>,
    values: Vec<f64>,
}

impl Entries {
    /// Adds an entry; numbers start from 0.
    pub fn push(&mut self, row: usize, column: usize, value: f64) {
        // Numbers of MUMPS have 32 bits and start from 1; `Mumps::factor` checks that all fit.
        self.rows.push(row as c_int + 1);
        self.columns.push(column as c_int + 1);
        self.values.push(value);
    }
}

/// A factored matrix.
pub struct Mumps {
    id: NonNull<Structure>,
    n: usize,
    host: bool,
}

// SAFETY: MUMPS keeps no state of a thread, and MPI runs in the mode in which any thread may call.
unsafe impl Send for Mumps {}

impl Mumps {
    /// Factors a matrix of dimension n. `order` (on rank 0; empty elsewhere) is the
    /// position of every unknown in the order of elimination. `None` is a matrix that is numerically singular.
    pub fn factor(n: usize, entries: &mut Entries, order: &[usize]) -> Result<Option<Self>> {
        let fits = c_int::try_from(n).ok().filter(|n| *n < c_int::MAX);
        let Some(dimension) = fits else {
            return Err(failure(format!("{n} interface unknowns are more than MUMPS can number"), ""));
        };
        let host = !order.is_empty();
        debug_assert!(!host || order.len() == n);
        let mut order: Vec<c_int> = order.iter().map(|&k| k as c_int + 1).collect();
        // SAFETY: no argument.
        let Some(id) = NonNull::new(unsafe { ddelm_mumps_start() }) else {
            return Err(failure("out of memory".into(), MORE_MEMORY));
        };
        let mumps = Mumps { id, n, host };
        let order = if host { order.as_mut_ptr() } else { null_mut() };
        let Entries { rows, columns, values } = entries;
        // SAFETY: the instance is valid; the three arrays have `count` entries with numbers from 1 to n, and `order`
        // is a permutation of these on rank 0, where it is read. MUMPS does not keep them.
        let status = unsafe {
            let count = values.len() as i64;
            let (rows, columns, values) = (rows.as_mut_ptr(), columns.as_mut_ptr(), values.as_mut_ptr());
            ddelm_mumps_factor(id.as_ptr(), dimension, count, rows, columns, values, order)
        };
        match status {
            SINGULAR => Ok(None),
            _ => mumps.check(status).map(|()| Some(mumps)),
        }
    }

    /// Solves for the columns of `rhs`, one below the other, on rank 0; elsewhere `rhs` is empty.
    pub fn solve(&mut self, rhs: &mut [f64], columns: usize) -> Result<()> {
        let expected = if self.host { self.n * columns } else { 0 };
        assert_eq!(rhs.len(), expected, "right-hand sides are on rank 0");
        // SAFETY: the instance is factored, and `rhs` has n x columns entries on rank 0, where it is used.
        let status = unsafe { ddelm_mumps_solve(self.id.as_ptr(), rhs.as_mut_ptr(), columns as c_int) };
        self.check(status)
    }

    /// Entries of the factor over all ranks.
    pub fn nonzeros(&self) -> usize {
        // SAFETY: the instance is valid.
        unsafe { ddelm_mumps_nonzeros(self.id.as_ptr()) as usize }
    }

    fn check(&self, status: c_int) -> Result<()> {
        // SAFETY: the instance is valid.
        let detail = unsafe { ddelm_mumps_detail(self.id.as_ptr()) };
        match status {
            0.. => Ok(()),
            -13 | -9 | -11 | -17 | -20 => {
                Err(failure(format!("MUMPS ran out of memory ({status}, {detail})"), MORE_MEMORY))
            }
            _ => Err(failure(
                format!("MUMPS failed with error {status} ({detail})"),
                "interface.solver = \"cg\" works without it",
            )),
        }
    }
}

impl Drop for Mumps {
    fn drop(&mut self) {
        // Ending is collective: after a panic the other ranks are elsewhere.
        if !std::thread::panicking() {
            // SAFETY: the instance is valid, and not used again.
            unsafe { ddelm_mumps_end(self.id.as_ptr()) }
        }
    }
}

const SINGULAR: c_int = -10;
const MORE_MEMORY: &str = "use more ranks on more machines, or interface.solver = \"cg\"";

fn failure(problem: String, hint: &str) -> Error {
    Error::Compute { stage: "interface", problem, hint: hint.into() }
}
