//! What the paper reports: Tables 1 to 7, digit by digit.

/// A row of Tables 2 to 7: N = side x side subdomains.
#[derive(Debug, Clone, Copy)]
pub struct Published {
    /// Subdomains in each direction.
    pub side: usize,
    /// Relative L2 error.
    pub l2: f64,
    /// Relative H1 error.
    pub h1: f64,
    /// Wall-clock time, on 64 cores; on 280 for 16 x 16.
    pub seconds: f64,
}

/// Subdomains in each direction of the rows of Tables 2 to 7.
const SIDES: [usize; 5] = [1, 2, 4, 8, 16];

/// Relative L2 error, relative H1 error and seconds, by tables from the second on.
const TABLES: [[[f64; 3]; 5]; 6] = [
    [
        [8.1550e-11, 1.6095e-09, 8617.13],
        [1.0748e-10, 1.0590e-09, 315.83],
        [1.6192e-08, 3.2441e-08, 19.46],
        [2.6392e-08, 8.1948e-08, 3.48],
        [1.0212e-07, 1.5199e-07, 10.43],
    ],
    [
        [9.7629e-07, 1.3357e-05, 11003.49],
        [7.5524e-07, 1.0613e-05, 313.48],
        [6.4662e-07, 9.0596e-06, 19.46],
        [6.8403e-07, 9.5401e-06, 3.36],
        [5.7649e-07, 8.4348e-06, 8.32],
    ],
    [
        [3.4758e-06, 2.8890e-05, 10992.84],
        [2.7517e-06, 2.2974e-05, 314.09],
        [2.4976e-06, 1.9726e-05, 19.54],
        [2.4946e-06, 2.1812e-05, 3.28],
        [2.2749e-06, 1.9084e-05, 8.11],
    ],
    [
        [1.8452e-06, 4.3370e-05, 10990.45],
        [3.3742e-06, 5.7660e-05, 318.36],
        [6.9140e-06, 4.1558e-05, 20.67],
        [3.3147e-06, 2.1626e-05, 4.54],
        [7.3209e-07, 5.5242e-06, 15.35],
    ],
    [
        [7.6186e-03, 3.3764e-02, 11020.72],
        [7.4366e-03, 5.7018e-02, 315.94],
        [5.8671e-03, 5.6910e-02, 20.61],
        [4.6123e-03, 2.2875e-02, 4.56],
        [6.0091e-04, 4.8583e-03, 14.10],
    ],
    [
        [8.7574e-09, 1.2857e-07, 11105.85],
        [1.1559e-08, 1.6362e-07, 322.29],
        [6.9948e-09, 1.1603e-07, 21.93],
        [3.6260e-08, 7.3627e-07, 3.74],
        [4.7774e-07, 5.5870e-06, 5.55],
    ],
];

/// The rows of Tables 2 to 7; none for other numbers.
pub fn rows(table: u8) -> Vec<Published> {
    let Some(rows) = usize::from(table).checked_sub(2).and_then(|index| TABLES.get(index)) else {
        return Vec::new();
    };
    let row = |(side, &[l2, h1, seconds]): (usize, &[f64; 3])| Published { side, l2, h1, seconds };
    SIDES.into_iter().zip(rows).map(row).collect()
}

/// Subdomains in each direction of the columns of Table 1.
pub const TABLE_1_SIDES: [usize; 3] = [2, 4, 8];

/// Table 1, root mean square error of the interface values: He, manual, suggested.
pub const TABLE_1: [[f64; 3]; 3] =
    [[8.4230e-03, 1.7173e-04, 1.1454e-05], [4.9389e-10, 4.0850e-09, 6.5790e-08], [2.8926e-10, 7.5946e-10, 2.9894e-09]];

/// The remark on the variable coefficient: relative L2 error of finite elements on 256 x 256 cells.
pub fn coarse_finite_elements(alpha: u32) -> f64 {
    if alpha == 16 { 2.4431e-04 } else { 3.7784e-04 }
}

/// Intervals per side of the unit square, over all subdomains: 257^2 points and 256^2 neurons.
pub const INTERVALS: usize = 256;
