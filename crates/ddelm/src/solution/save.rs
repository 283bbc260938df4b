//! Solutions in files.
//!
//! A solution is saved in the safetensors format, which PyTorch, JAX and NumPy read. All numbers are f64:
//!
//! | tensor | shape | content |
//! | --- | --- | --- |
//! | `weights` | (networks, 2, neurons) | w, in reference coordinates |
//! | `biases` | (networks, neurons) | b |
//! | `coefficients` | (subdomains, neurons) | c, rounded |
//! | `remainders` | (subdomains, neurons) | what rounding took away from c (may be missing) |
//! | `polynomials` | (subdomains, polynomials) | coefficients d of the polynomials beside the neurons, rounded |
//! | `polynomial_remainders` | (subdomains, polynomials) | what rounding took away from d |
//! | `interface_points` | (interface values, 2) | where the interface values are |
//! | `interface_values` | (interface values) | u there |
//!
//! There is one network for all subdomains, or one each, and on subdomain s
//!
//! ```text
//! u(F_s(xi)) = sum_j c_j sigma(weights[k, 0, j] xi_1 + weights[k, 1, j] xi_2 + biases[k, j]) + sum_m d_m p_m(xi),
//! c_j = coefficients[s, j] + remainders[s, j],   d_m = polynomials[s, m] + polynomial_remainders[s, m].
//! ```
//!
//! The polynomials p_m are the products `P_i(2 xi_1 - 1) P_j(2 xi_2 - 1)` of Legendre polynomials, by their degree i + j, then
//! by j: 1; P_1 in xi_1, P_1 in xi_2; and so on. Files of version 1 have none.
//!
//! Rounding any of it to doubles moves u by about the machine precision times the largest coefficient.
//!
//! The file's metadata has one entry, `ddelm`: a JSON object with the `version` of this format, the `activation`, the
//! [`geometry`](Geometry) that gives the maps F_s, the [`report`](Report) of the solve, and the text of the `problem`
//! file if there was one. What is read is what was written, bit for bit.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};

use crate::base::atomic;
use crate::base::error::{Error, Result};
use crate::domain::decomposition::Decomposition;
use crate::domain::geometry::Geometry;
use crate::domain::shape::PerShape;
use crate::method::report::Report;
use crate::network::activation::Activation;
use crate::network::features::{FeatureNetwork, Networks};
use crate::network::polynomial;
use crate::solution::evaluate::Solution;

/// The version of the format that is written, and the newest that is read.
///
/// It is raised when a reader of this version would misread a file. Whatever is added to the report needs no new version,
/// but a default (`#[serde(default)]`), so that older files are still read.
pub const VERSION: u32 = 5;

/// The first version in which every second stack of rings is mirrored.
const MIRRORED: u32 = 4;

/// The entry of the file's metadata that holds everything that is not a tensor.
const ENTRY: &str = "ddelm";

/// What a file holds.
#[derive(Clone)]
pub struct Saved {
    /// The solution.
    pub solution: Solution,
    /// The text of the problem file that it solves, if there was one.
    pub problem: Option<String>,
}

/// The version alone: it is read first, for the rest may look different in another version.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    version: u32,
    activation: Activation,
    /// Whether every subdomain has a network of its own, and not every shape.
    #[serde(default)]
    each: Option<bool>,
    geometry: Geometry,
    report: Report,
    problem: Option<String>,
}

/// Writes a solution, and the text of the problem file that it solves.
///
/// The file is complete or not there. A decomposition by maps that have no [description](crate::domain::map::Map::description)
/// cannot be saved.
pub fn write(path: impl AsRef<Path>, solution: &Solution, problem: Option<&str>) -> Result<()> {
    let path = path.as_ref();
    let bytes = encode(path, solution, problem)?;
    atomic::write(path, |file| file.write_all(&bytes))
}

/// The bytes of the file that [`write()`] writes; `path` is its name in errors.
pub fn encode(path: impl AsRef<Path>, solution: &Solution, problem: Option<&str>) -> Result<Vec<u8>> {
    let path = path.as_ref();
    let refuse = |problem: &str, hint: &str| Error::Write {
        path: path.into(),
        problem: format!("the solution cannot be saved: {problem}"),
        hint: hint.into(),
    };
    let geometry = solution
        .decomposition
        .geometry()
        .ok_or_else(|| refuse("a map of its decomposition has no description", "affine and polar maps have one"))?;
    let count = solution.decomposition.len();
    let lengths = [solution.coefficients.len(), solution.remainders.len()];
    let complete = match &solution.networks {
        Networks::Shared(_) => true,
        Networks::Each(networks) => networks.len() == count,
    };
    if lengths != [count; 2] || !complete {
        let problem = format!("{count} subdomains have {} coefficients and {} remainders", lengths[0], lengths[1]);
        return Err(refuse(&problem, "give one of each for every subdomain"));
    }
    if (0..count).any(|s| solution.coefficients[s].len() != solution.network(s).columns()) {
        return Err(refuse("it holds a part of the subdomains only", "gather it on one rank first"));
    }
    let metadata = Metadata {
        version: VERSION,
        activation: solution.network(0).activation,
        each: Some(matches!(solution.networks, Networks::Each(_))),
        geometry,
        report: solution.report.clone(),
        problem: problem.map(str::to_owned),
    };
    let metadata = serde_json::to_string(&metadata).map_err(|e| refuse(&e.to_string(), ""))?;
    let tensors = tensors(solution);
    let views: Vec<(&str, TensorView<'_>)> = tensors
        .iter()
        .map(|tensor| Ok((tensor.name, TensorView::new(Dtype::F64, tensor.shape.clone(), &tensor.bytes)?)))
        .collect::<std::result::Result<_, safetensors::SafeTensorError>>()
        .map_err(|_| refuse("its networks have different numbers of neurons", ""))?;
    serialize(views, Some([(ENTRY.to_owned(), metadata)].into_iter().collect())).map_err(|e| refuse(&e.to_string(), ""))
}

/// Reads what [`write()`] wrote.
pub fn read(path: impl AsRef<Path>) -> Result<Saved> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied => "check the permissions",
            _ => "give the .safetensors file of a solution",
        };
        Error::File { path: path.into(), problem: format!("cannot read: {error}"), hint: hint.into() }
    })?;
    decode(&bytes).map_err(|problem| Error::File {
        path: path.into(),
        problem: format!("this is not the file of a solution: {problem}"),
        hint: "give the .safetensors file of a solution".into(),
    })
}

impl Solution {
    /// Saves the solution to a file: [`write()`] without a problem file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write(path, self, None)
    }

    /// Loads a solution from a file: [`read`] without the problem file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        read(path).map(|saved| saved.solution)
    }
}

/// A tensor on its way to a file.
struct Tensor {
    name: &'static str,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

fn tensors(solution: &Solution) -> Vec<Tensor> {
    let tensor = |name, shape: &[usize], numbers: &mut dyn Iterator<Item = &f64>| Tensor {
        name,
        shape: shape.to_vec(),
        bytes: numbers.flat_map(|v| v.to_le_bytes()).collect(),
    };
    let networks: Vec<&Arc<FeatureNetwork>> = solution.networks.iter().collect();
    let (subdomains, interface) = (solution.coefficients.len(), &solution.interface);
    // Networks of different shapes have different numbers of columns: the smaller ones are filled with zeros.
    let neurons = networks.iter().map(|n| n.len()).max().unwrap_or(0);
    let polynomials = networks.iter().map(|n| n.polynomials).max().unwrap_or(0);
    fn filled(numbers: &[f64], count: usize) -> impl Iterator<Item = &f64> {
        numbers.iter().chain(std::iter::repeat(&0.0)).take(count)
    }
    // Polynomials come before neurons; remainders that are not known are zeros.
    let low = |s: usize, all: &'_ [f64]| all[..solution.network(s).polynomials.min(all.len())].to_vec();
    let high = |s: usize, all: &'_ [f64]| all[solution.network(s).polynomials.min(all.len())..].to_vec();
    let parts = |of: &dyn Fn(usize, &[f64]) -> Vec<f64>, all: &[Vec<f64>], width: usize| -> Vec<f64> {
        let part = |(s, c): (usize, &Vec<f64>)| filled(&of(s, c), width).copied().collect::<Vec<f64>>();
        all.iter().enumerate().flat_map(part).collect()
    };
    let rows = |name, of: &dyn Fn(usize, &[f64]) -> Vec<f64>, all: &[Vec<f64>], width: usize| {
        tensor(name, &[subdomains, width], &mut parts(of, all, width).iter())
    };
    let weights = &mut networks.iter().flat_map(|n| n.weights.iter().flat_map(|w| filled(w, neurons)));
    vec![
        tensor("weights", &[networks.len(), 2, neurons], weights),
        tensor("biases", &[networks.len(), neurons], &mut networks.iter().flat_map(|n| filled(&n.biases, neurons))),
        rows("coefficients", &high, &solution.coefficients, neurons),
        rows("remainders", &high, &solution.remainders, neurons),
        rows("polynomials", &low, &solution.coefficients, polynomials),
        rows("polynomial_remainders", &low, &solution.remainders, polynomials),
        tensor("interface_points", &[interface.len(), 2], &mut interface.iter().flat_map(|(p, _)| p)),
        tensor("interface_values", &[interface.len()], &mut interface.iter().map(|(_, v)| v)),
    ]
}

/// The content of a file that is in memory, or what is wrong with it.
pub fn decode(bytes: &[u8]) -> std::result::Result<Saved, String> {
    let metadata = metadata_of(bytes)?;
    let tensors = Tensors::parse(bytes)?;

    // The coefficients must be there before the geometry is built: a damaged file cannot ask for all the memory.
    // Without neurons the shape could name any number of subdomains, and still take no bytes.
    let &[subdomains, neurons] = tensors.get("coefficients", 2)?.0 else {
        return Err("`coefficients` has no rows and columns".into());
    };
    if neurons == 0 {
        return Err(format!("`coefficients` has the shape [{subdomains}, 0]: there are no neurons"));
    }
    if metadata.geometry.subdomains() != Some(subdomains) {
        return Err(format!("there are coefficients for {subdomains} subdomains, but not in its geometry"));
    }
    let decomposition = metadata.geometry.decomposition().map_err(|e| e.to_string())?;
    let coefficients = tensors.shaped("coefficients", &[subdomains, neurons])?;
    let remainders = match tensors.0.contains_key("remainders") {
        true => tensors.shaped("remainders", &[subdomains, neurons])?,
        false => &[],
    };
    let (polynomials, low, low_remainders) = tensors.polynomials(subdomains)?;
    let networks = networks_of(&tensors, &metadata, &decomposition, [polynomials, neurons])?;
    let values = tensors.get("interface_values", 1)?.1;
    let points = tensors.shaped("interface_points", &[values.len(), 2])?;
    let joined =
        |first: &[f64], second: &[f64], s: usize| [row(first, subdomains, s), row(second, subdomains, s)].concat();
    let solution = Solution {
        networks,
        coefficients: (0..subdomains).map(|s| joined(low, coefficients, s)).collect(),
        remainders: (0..subdomains).map(|s| joined(low_remainders, remainders, s)).collect(),
        interface: points.chunks_exact(2).zip(values).map(|(p, &v)| ([p[0], p[1]], v)).collect(),
        decomposition: Arc::new(decomposition),
        report: metadata.report,
        in_basis: None,
    };
    Ok(Saved { solution, problem: metadata.problem })
}

/// The networks of a file, each with so many polynomials and neurons.
fn networks_of(
    tensors: &Tensors,
    metadata: &Metadata,
    decomposition: &Decomposition,
    [polynomials, neurons]: [usize; 2],
) -> std::result::Result<Networks<Arc<FeatureNetwork>>, String> {
    let (shape, weights) = tensors.get("weights", 3)?;
    let count = match *shape {
        [count, 2, columns] if columns == neurons => count,
        _ => return Err(format!("`weights` has the shape {shape:?}, not (networks, 2, {neurons})")),
    };
    let (shapes, subdomains) = (decomposition.shapes(), decomposition.len());
    // Files of older versions say nothing about sharing, and have squares only.
    let each = metadata.each.unwrap_or(count != 1);
    if count != if each { subdomains } else { shapes.len() } {
        return Err(format!("there are {count} networks for {subdomains} subdomains"));
    }
    let biases = tensors.shaped("biases", &[count, neurons])?;
    let mut networks = (0..count).map(|k| {
        Arc::new(FeatureNetwork {
            activation: metadata.activation,
            polynomials,
            weights: [0, 1].map(|direction| row(weights, 2 * count, 2 * k + direction).to_vec()),
            biases: row(biases, count, k).to_vec(),
        })
    });
    if each {
        return Ok(Networks::Each(networks.collect()));
    }
    let missing = || "a network is missing".to_string();
    Ok(Networks::Shared(PerShape::new(&shapes, |_| networks.next().ok_or_else(missing))?))
}

/// Row k of so many of a matrix.
fn row(data: &[f64], count: usize, k: usize) -> &[f64] {
    let width = data.len() / count;
    &data[k * width..(k + 1) * width]
}

/// What a file says about itself, if this program can read it.
fn metadata_of(bytes: &[u8]) -> std::result::Result<Metadata, String> {
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|e| format!("it is not in the safetensors format ({e})"))?;
    let text = header.metadata().as_ref().and_then(|m| m.get(ENTRY)).ok_or("it has no metadata of ours")?;
    let broken = |e: serde_json::Error| format!("its metadata is broken: {e}");
    let Version { version } = serde_json::from_str(text).map_err(broken)?;
    if version > VERSION {
        return Err(format!("version {version} of the format is newer than this program, which reads up to {VERSION}"));
    }
    let metadata: Metadata = serde_json::from_str(text).map_err(broken)?;
    if version < MIRRORED && matches!(metadata.geometry, Geometry::Rings { .. }) {
        return Err(format!(
            "its rings are those of version {version}, and those of version {MIRRORED} run otherwise: solve again"
        ));
    }
    Ok(metadata)
}

/// The tensors of a file as numbers.
struct Tensors(BTreeMap<String, (Vec<usize>, Vec<f64>)>);

impl Tensors {
    fn parse(bytes: &[u8]) -> std::result::Result<Self, String> {
        let file = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.tensors() {
            if view.dtype() != Dtype::F64 {
                return Err(format!("`{name}` holds numbers of type {:?}, not F64", view.dtype()));
            }
            let (numbers, _) = view.data().as_chunks();
            let numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
            tensors.insert(name, (view.shape().to_vec(), numbers));
        }
        Ok(Tensors(tensors))
    }

    /// The number of polynomials, their coefficients and the remainders of these; older files have none.
    fn polynomials(&self, subdomains: usize) -> std::result::Result<(usize, &[f64], &[f64]), String> {
        if !self.0.contains_key("polynomials") {
            return Ok((0, &[], &[]));
        }
        let polynomials = self.get("polynomials", 2)?.0[1];
        if polynomials > polynomial::count(polynomial::MOST_DEGREE) {
            return Err(format!("there are {polynomials} polynomials, more than this program knows"));
        }
        let shape = [subdomains, polynomials];
        Ok((polynomials, self.shaped("polynomials", &shape)?, self.shaped("polynomial_remainders", &shape)?))
    }

    /// The shape and the numbers of a tensor with so many axes.
    fn get(&self, name: &str, axes: usize) -> std::result::Result<(&[usize], &[f64]), String> {
        let (shape, numbers) = self.0.get(name).ok_or_else(|| format!("it has no tensor `{name}`"))?;
        if shape.len() != axes {
            return Err(format!("`{name}` has the shape {shape:?}, with {axes} axes expected"));
        }
        Ok((shape, numbers))
    }

    /// The numbers of a tensor of a known shape.
    fn shaped(&self, name: &str, expected: &[usize]) -> std::result::Result<&[f64], String> {
        let (shape, numbers) = self.get(name, expected.len())?;
        if shape != expected {
            return Err(format!("`{name}` has the shape {shape:?}, not {expected:?}"));
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::map::{MapRef, Point, Polar};
    use crate::method::settings::{Settings, Sharing};
    use crate::problem::field::function;
    use crate::problem::model::{Condition, Equation, Problem};
    use crate::solve::solver::Solver;

    fn solved(decomposition: Decomposition, sharing: Sharing) -> Solution {
        let g = function(|x, y| (x + 2.0 * y).sin());
        let problem = Problem::new(
            Equation::poisson(),
            function(|x, y| 5.0 * (x + 2.0 * y).sin()),
            vec![Condition::dirichlet(g); decomposition.parts.len()],
        );
        let settings = Settings { points: 7, sharing, ..Settings::fast() };
        Solver::new(&problem, Arc::new(decomposition), &settings).unwrap().solve().unwrap()
    }

    fn rectangle() -> Decomposition {
        Decomposition::rectangle([-0.1, 0.9], [0.3, 1.0], [3, 2]).unwrap()
    }

    fn ring() -> Decomposition {
        let sector = |k: f64| {
            let angle = [0.3 * k, 0.3 * (k + 1.0)];
            Arc::new(Polar { centre: [0.1, 0.2], radius: [1.0, 1.3], angle }) as MapRef
        };
        Decomposition::from_maps(vec![sector(0.0), sector(1.0)], 2, |p| usize::from(p[0] > 0.9)).unwrap()
    }

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn what_is_read_is_what_was_written_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.safetensors");
        for (decomposition, sharing) in
            [(rectangle(), Sharing::Shared), (rectangle(), Sharing::Independent), (ring(), Sharing::Shared)]
        {
            let solution = solved(decomposition, sharing);
            write(&path, &solution, Some("[domain]\n# \"quotes\" and \u{3c0}\n")).unwrap();
            let saved = read(&path).unwrap();
            let back = &saved.solution;
            assert_eq!(saved.problem.as_deref(), Some("[domain]\n# \"quotes\" and \u{3c0}\n"));
            assert_eq!(back.networks, solution.networks);
            assert_eq!(back.coefficients, solution.coefficients);
            assert_eq!(back.remainders, solution.remainders);
            assert_eq!(back.interface, solution.interface);
            assert_eq!(back.report, solution.report);
            let [x0, x1, y0, y1] = solution.decomposition.bounding_box();
            let (x, y): (Vec<f64>, Vec<f64>) = (0..400)
                .map(|k| (x0 + (x1 - x0) * (k % 20) as f64 / 19.0, y0 + (y1 - y0) * (k / 20) as f64 / 19.0))
                .unzip();
            let (a, b) = (back.gradients(&x, &y), solution.gradients(&x, &y));
            assert_eq!([bits(&a.u), bits(&a.ux), bits(&a.uy)], [bits(&b.u), bits(&b.ux), bits(&b.uy)]);
            assert!(a.u.iter().any(|u| u.is_finite()));
        }
    }

    #[test]
    fn foreign_and_damaged_files_say_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.safetensors");
        solved(rectangle(), Sharing::Shared).save(&path).unwrap();
        let good = fs::read(&path).unwrap();
        let problem = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let error = read(&path).err().unwrap();
            assert!(matches!(error, Error::File { .. }) && error.is_input() && error.hint().is_some());
            error.to_string()
        };
        assert!(problem(b"x,y\n0,0\n").contains("not the file of a solution"));
        assert!(problem(&[]).contains("not the file of a solution"));
        for length in [7, 100, good.len() / 2, good.len() - 1] {
            problem(&good[..length]);
        }
        let data = 1f64.to_le_bytes();
        let foreign = serialize([("a", TensorView::new(Dtype::F64, vec![1], &data).unwrap())], None).unwrap();
        assert!(problem(&foreign).contains("no metadata of ours"));

        let replaced = |from: &[u8], to: &[u8]| {
            let at = good.windows(from.len()).position(|w| w == from).unwrap();
            [&good[..at], to, &good[at + from.len()..]].concat()
        };
        let version = format!(r#"\"version\":{VERSION}"#);
        assert!(problem(&replaced(version.as_bytes(), br#"\"version\":9"#)).contains("version 9"));
        for wrong in [&br#"\"subdomains\":[2,2]"#[..], br#"\"subdomains\":[9999999999,9999999999]"#] {
            // The header is longer or shorter by so many bytes.
            let damaged = replaced(br#"\"subdomains\":[3,2]"#, wrong);
            let length =
                u64::from_le_bytes(damaged[..8].try_into().unwrap()) + damaged.len() as u64 - good.len() as u64;
            let damaged = [&length.to_le_bytes(), &damaged[8..]].concat();
            assert!(problem(&damaged).contains("coefficients for 6 subdomains"));
        }
        assert!(problem(&replaced(br#"\"x\":[-0.1"#, br#"\"x\":[99.0"#)).contains("interval"));
        let missing = Solution::load(folder.path().join("none")).err().unwrap();
        assert_eq!(missing.hint(), Some("check the path"));
    }

    #[test]
    fn maps_without_a_description_are_refused() {
        struct Shifted;
        impl crate::domain::map::Map for Shifted {
            fn point(&self, xi: Point) -> Point {
                xi
            }
            fn jacobian(&self, _: Point) -> [[f64; 2]; 2] {
                [[1.0, 0.0], [0.0, 1.0]]
            }
            fn hessian(&self, _: Point) -> [[[f64; 2]; 2]; 2] {
                [[[0.0; 2]; 2]; 2]
            }
        }
        let decomposition = Decomposition::from_maps(vec![Arc::new(Shifted)], 1, |_| 0).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.safetensors");
        let error = solved(decomposition, Sharing::Shared).save(&path).unwrap_err();
        assert!(error.to_string().contains("no description"), "{error}");
        assert!(!path.exists());
    }
}
