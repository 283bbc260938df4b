//! A local problem with known data: Y and y_F by the normal equations, which need no Q.
//!
//! In the shared basis K is well conditioned where a subdomain resolves its coefficients, and `K'K` has lost nothing that
//! matters. Whether that is so is measured: by the correction that one more step makes. Where it is more than rounding Y is corrected
//! as well, and what a correction does not mend is left to QR.

use faer::Mat;

use crate::algebra::factor::{Normal, Scratch, multiply};
use crate::base::error::Result;
use crate::local::local_factor::{LocalData, LocalFactor, loads, product, side_by_side};
use crate::local::matrices::LocalProblem;
use crate::local::rows::Balance;
use crate::method::settings::Coupling;

/// Up to this a correction of normal equations, relative to the solution, is rounding. With coefficients that are resolved it is 1e-15 to 1e-13.
const NEGLIGIBLE: f64 = 1e-12;

/// Where it is larger than this, QR takes their place: what one correction leaves is about its square. In rings it is 1e-13 to 1e-8.
const MENDED: f64 = 1e-7;

/// The golden section: its multiples mix all interface values.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// What normal equations were given, and did not solve well enough.
struct Unsafe {
    k: Scratch,
    a: Scratch,
    traces: Vec<(usize, f64)>,
    f: Mat<f64>,
}

impl LocalFactor {
    /// The factor of the few subdomains that share it, in the shared basis, for their known right-hand sides F: it has
    /// [forgotten](LocalFactor::forget) what others would need. Comes with the data of each.
    pub fn for_data(problem: &LocalProblem<'_>, f: &[&Mat<f64>]) -> Result<(Self, Vec<LocalData>)> {
        let (k, a) = problem.matrices();
        let all = side_by_side(f);
        let (factor, data) = if problem.rows.tests.is_some() {
            Self::for_data_by_inverse(problem, [k, a], problem.traces(), all)?
        } else {
            match Self::by_normal_equations(k, a, problem.traces(), problem.rows.balance.as_ref(), all) {
                Ok(found) => found,
                Err(given) => {
                    let Unsafe { k, a, traces, f } = *given;
                    Self::for_data_by_inverse(problem, [k, a], traces, f)?
                }
            }
        };
        Ok((factor, data.parts(f)))
    }

    /// The same by the truncated inverse.
    fn for_data_by_inverse(
        problem: &LocalProblem<'_>,
        matrices: [Scratch; 2],
        traces: Vec<(usize, f64)>,
        f: Mat<f64>,
    ) -> Result<(Self, LocalData)> {
        let [k, a] = matrices.map(Scratch::into_inner);
        let mut factor = Self::by_inverse(problem, k, a, traces, Coupling::FluxBalance)?;
        let data = factor.data(f);
        factor.forget();
        Ok((factor, data))
    }

    /// Y and y_F by the normal equations. What they are given comes back where rounding would show.
    fn by_normal_equations(
        k: Scratch,
        a: Scratch,
        traces: Vec<(usize, f64)>,
        balance: Option<&Balance>,
        f: Mat<f64>,
    ) -> std::result::Result<(Self, LocalData), Box<Unsafe>> {
        let normal = match Normal::new(k) {
            Ok(normal) => normal,
            Err(k) => return Err(Box::new(Unsafe { k, a, traces, f })),
        };
        let k = normal.matrix();
        let (rank, values) = (k.ncols(), traces.len());
        // K' [E F]
        let mut all = Scratch::new(rank, values + f.ncols());
        for i in 0..rank {
            traces.iter().enumerate().for_each(|(j, &(row, entry))| all[(i, j)] = entry * k[(row, i)]);
        }
        multiply(all.as_mut().subcols_mut(values, f.ncols()), k.transpose(), f.as_ref());
        normal.solve(all.as_mut());
        let (mut y, data) = all.as_mut().split_at_col_mut(values);
        // The data are corrected, and with them a mixture of all interface values, which tells whether Y would have to be.
        let mut probed = Mat::zeros(f.nrows(), f.ncols() + 1);
        let mut mixture = Mat::zeros(values, 1);
        for (j, &(row, entry)) in traces.iter().enumerate() {
            mixture[(j, 0)] = ((j + 1) as f64 * GOLDEN).fract() - 0.5;
            probed[(row, f.ncols())] = entry * mixture[(j, 0)];
        }
        probed.as_mut().subcols_mut(0, f.ncols()).copy_from(&f);
        let mut corrected = Scratch::new(rank, f.ncols() + 1);
        corrected.as_mut().subcols_mut(0, f.ncols()).copy_from(data);
        multiply(corrected.as_mut().subcols_mut(f.ncols(), 1), y.as_ref(), mixture.as_ref());
        let mut correction = normal.correct(probed.as_ref(), corrected.as_mut());
        if correction > NEGLIGIBLE && correction <= MENDED {
            let mut e = Scratch::new(k.nrows(), values);
            e.as_mut().fill(0.0);
            traces.iter().enumerate().for_each(|(j, &(row, entry))| e[(row, j)] = entry);
            correction = normal.correct(e.as_ref(), y.as_mut());
        }
        if correction.is_nan() || correction > MENDED {
            return Err(Box::new(Unsafe { k: normal.into_matrix(), a, traces, f }));
        }
        let (y, y_f) = (y.to_owned(), corrected.subcols(0, f.ncols()).to_owned());
        let d = product(a.as_ref(), y.as_ref());
        if !d.norm_max().is_finite() {
            return Err(Box::new(Unsafe { k: normal.into_matrix(), a, traces, f }));
        }
        let load = loads(balance, &f);
        let data = LocalData { flux: product(a.as_ref(), y_f.as_ref()), y: y_f, n: Mat::zeros(0, f.ncols()), f, load };
        let factor = LocalFactor {
            orthogonal: None,
            rows: k.nrows(),
            rank,
            lift: None,
            selection: None,
            tests: None,
            a: Mat::new(),
            y,
            n: Mat::zeros(0, values),
            traces,
            d,
            t: Mat::new(),
            balance: balance.map(|balance| balance.multiplier),
        };
        Ok((factor, data))
    }
}
