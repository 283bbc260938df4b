//! Networks by their arrays, which a user may have trained further: values as solutions are summed.

use ddelm::network::activation::{Activation, Neurons};
use ddelm::network::polynomial;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::watch::run;

/// Points of a network that one thread takes at a time.
const CHUNK: usize = 1024;

/// Networks at reference points, summed as solutions are: at point k that with the number `number[k]`. Weights have the shape (networks, 2,
/// neurons); the coefficients of a network's polynomials come before those of its neurons. An array is returned for each of the
/// derivatives: 0 for values, 1 and 2 for the slopes in s and t.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the arrays that networks consist of")]
pub fn network_values<'py>(
    py: Python<'py>,
    activation: &str,
    weights: PyReadonlyArray3<'py, f64>,
    biases: PyReadonlyArray2<'py, f64>,
    coefficients: PyReadonlyArray2<'py, f64>,
    remainders: PyReadonlyArray2<'py, f64>,
    number: PyReadonlyArray1<'py, i64>,
    s: PyReadonlyArray1<'py, f64>,
    t: PyReadonlyArray1<'py, f64>,
    derivatives: Vec<usize>,
) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
    let activation: Activation = serde_json::from_value(activation.into())
        .map_err(|_| PyValueError::new_err(format!("there is no activation {activation:?}")))?;
    let ([networks, neurons], [rows, columns]) = (shape(&biases), shape(&coefficients));
    let most = polynomial::count(polynomial::MOST_DEGREE);
    let polynomials = columns.checked_sub(neurons).filter(|&polynomials| polynomials <= most);
    let fits =
        weights.shape() == [networks, 2, neurons] && shape(&remainders) == [networks, columns] && rows == networks;
    let known = number.as_array().iter().all(|&k| usize::try_from(k).is_ok_and(|k| k < networks));
    let points = s.len() == t.len() && s.len() == number.len() && known && derivatives.iter().all(|&d| d < 3);
    let Some(polynomials) = polynomials.filter(|_| fits && points) else {
        return Err(PyValueError::new_err("the arrays of networks do not fit each other"));
    };
    let weights: Vec<f64> = weights.as_array().iter().copied().collect();
    let [biases, coefficients, remainders] =
        [biases, coefficients, remainders].map(|array| array.as_array().iter().copied().collect::<Vec<_>>());
    let [s, t] = [s, t].map(|array| array.as_array().to_vec());
    let mut order: Vec<(usize, usize)> = number.as_array().iter().enumerate().map(|(k, &n)| (n as usize, k)).collect();
    let values = run(py, None, move |_| {
        order.sort_unstable();
        let of = |n: usize, count: usize| n * count..(n + 1) * count;
        let parts: Vec<_> = order.chunk_by(|a, b| a.0 == b.0).flat_map(|same| same.chunks(CHUNK)).collect();
        let found: Vec<Vec<Vec<f64>>> = parts
            .par_iter()
            .map(|part| {
                let n = part[0].0;
                let (w0, w1) = weights[of(n, 2 * neurons)].split_at(neurons);
                let network = Neurons {
                    polynomials,
                    weights: [w0, w1],
                    biases: &biases[of(n, neurons)],
                    coefficients: &coefficients[of(n, columns)],
                    remainders: &remainders[of(n, columns)],
                };
                let [s, t] = [&s, &t].map(|all| part.iter().map(|&(_, k)| all[k]).collect::<Vec<_>>());
                let mut values = vec![vec![0.0; part.len()]; derivatives.len()];
                let mut out: Vec<&mut [f64]> = values.iter_mut().map(Vec::as_mut_slice).collect();
                activation.network_sums(network, &s, &t, &derivatives, &mut out);
                values
            })
            .collect();
        let sorted = |m: usize| {
            let mut values = vec![0.0; s.len()];
            for ((_, k), value) in order.iter().zip(found.iter().flat_map(|part| &part[m])) {
                values[*k] = *value;
            }
            values
        };
        Ok((0..derivatives.len()).map(sorted).collect::<Vec<_>>())
    })?;
    Ok(values.into_iter().map(|values| PyArray1::from_vec(py, values)).collect())
}

fn shape(array: &PyReadonlyArray2<'_, f64>) -> [usize; 2] {
    [array.shape()[0], array.shape()[1]]
}
