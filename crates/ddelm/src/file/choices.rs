//! The choices of a file: `method`, `[discretization]`, `[network]`, `[interface]`, over the settings of the preset.

use std::path::Path;
use std::sync::Arc;

use super::document::{Kind, Value};
use super::section::{Section, list, number, pair, shown, whole};
use crate::base::error::{Error, Result};
use crate::base::{amount, npz};
use crate::domain::area::{Cut, Domain};
use crate::domain::collocation::Nodes;
use crate::method::settings::{Corners, GivenWeights, InterfaceSolver, Method, Preset, Settings, Sharing, Truncation};
use crate::network::activation::Activation;
use crate::network::features::Initialization;

pub(super) const DISCRETIZATION: &[&str] = &[
    "subdomains",
    "size",
    "points",
    "neurons",
    "nodes",
    "corners",
    "tolerance",
    "estimate",
    "cells",
    "max_memory",
    "max_subdomains",
    "max_seconds",
];
pub(super) const NETWORK: &[&str] =
    &["activation", "initialization", "scale", "c", "r", "seed", "weights", "sharing", "truncation", "cut"];
pub(super) const INTERFACE: &[&str] = &["solver", "tolerance", "max_iterations", "refinements"];

/// The choices.
pub(super) struct Choices {
    /// Into which subdomains the domain is cut; of no meaning where there is a tolerance.
    pub cut: Cut,
    /// The error to reach.
    pub tolerance: Option<f64>,
    /// Whether to estimate the error, if the file says.
    pub estimate: Option<bool>,
    /// Cells of finite elements, where these are asked for.
    pub finite_elements: Option<[usize; 2]>,
    /// Everything else.
    pub settings: Settings,
}

/// Reads the choices for a problem on a domain. Files are relative to `directory`.
pub(super) fn choices(root: &Section, directory: &Path, domain: &Domain) -> Result<Choices> {
    let preset = root.choice("preset", &[("fast", Preset::Fast), ("paper", Preset::Paper)])?.unwrap_or_default();
    let mut settings = Settings::preset(preset);
    let networks = [("schur", Some(Method::Schur)), ("elm", Some(Method::Elm)), ("locelm", Some(Method::Locelm))];
    let [schur, elm, locelm] = networks;
    let method = root.choice("method", &[schur, elm, locelm, ("fem", None)])?;
    overlay(&mut settings.method, method.flatten());
    let is_fem = method == Some(None);
    network(&root.section("network", NETWORK)?, directory, &mut settings)?;
    interface(&root.section("interface", INTERFACE)?, &mut settings)?;
    let section = root.section("discretization", DISCRETIZATION)?;
    let tolerance = tolerance(&section)?;
    let finite_elements = cells(&section, is_fem)?;
    settings.max_memory = max_memory(&section)?;
    settings.max_subdomains = section.whole("max_subdomains")?;
    settings.max_seconds = max_seconds(&section)?;
    overlay(&mut settings.corners, corners(&section)?);
    Ok(Choices {
        cut: sizes(&section, domain, tolerance.is_some() || is_fem, &mut settings)?,
        tolerance,
        estimate: section.flag("estimate")?,
        finite_elements,
        settings,
    })
}

/// Reads points and neurons into the settings, and returns how the domain is cut. They may be left out where they are
/// `free`; the subdomains of anything but a rectangle have a size that its outline suggests.
fn sizes(section: &Section, domain: &Domain, free: bool, settings: &mut Settings) -> Result<Cut> {
    let missing = |name: &str, example: &str| {
        section.missing(name, &format!("for example {name} = {example}; or give tolerance and let the solver choose"))
    };
    let cut = match (section.pair("subdomains", "[4, 4]", whole)?, section.number("size")?) {
        (Some(_), Some(size)) => {
            let problem = "subdomains say already how large they are";
            return Err(Error::input(section.key("size"), size, problem, "give subdomains or size"));
        }
        (Some(counts), None) => Cut::Counts(counts),
        (None, Some(size)) => Cut::Size(size),
        (None, None) if domain.suggests_sizes() => Cut::Default,
        (None, None) if settings.method == Method::Elm => Cut::WHOLE,
        (None, None) if free => Cut::Counts(START),
        (None, None) => return Err(missing("subdomains", "[4, 4]")),
    };
    match section.whole("points")? {
        Some(points) => settings.points = points,
        None if free => {}
        None => return Err(missing("points", "16")),
    }
    if let Some(neurons) = section.whole("neurons")? {
        let given = settings.weights.as_ref().map(|given| given.neurons);
        if let Some(given) = given.filter(|&given| given != neurons) {
            let problem = format!("network.weights has {given} neurons per subdomain");
            return Err(Error::input(section.key("neurons"), neurons, problem, "leave it out"));
        }
        settings.neurons = Some(neurons);
    }
    let nodes = [
        ("auto", None),
        ("chebyshev", Some(Nodes::Chebyshev)),
        ("gauss", Some(Nodes::Gauss)),
        ("uniform", Some(Nodes::Uniform)),
    ];
    overlay(&mut settings.nodes, section.choice("nodes", &nodes)?);
    Ok(cut)
}

/// Subdomains to start with where a tolerance is given.
const START: [usize; 2] = [2, 2];

fn tolerance(section: &Section) -> Result<Option<f64>> {
    let tolerance = section.number("tolerance")?;
    match tolerance.filter(|v| !(*v > 0.0 && *v < 1.0)) {
        None => Ok(tolerance),
        Some(value) => {
            let problem = "a relative error lies between 0 and 1";
            Err(Error::input(section.key("tolerance"), value, problem, "for example 1e-8"))
        }
    }
}

/// The time after which a tolerance is given up.
fn max_seconds(section: &Section) -> Result<Option<f64>> {
    let seconds = section.number("max_seconds")?;
    match seconds.filter(|seconds| !(*seconds > 0.0 && seconds.is_finite())) {
        None => Ok(seconds),
        Some(seconds) => {
            let problem = "it is a positive number of seconds";
            Err(Error::input(section.key("max_seconds"), seconds, problem, "for example 60"))
        }
    }
}

/// The memory that a solve may take: a number of bytes, or one with a unit.
fn max_memory(section: &Section) -> Result<Option<u64>> {
    let Some(value) = section.get("max_memory") else { return Ok(None) };
    let (key, text) = (section.key("max_memory"), shown(&value.kind));
    match amount::parse(text.trim_matches('"')) {
        Some(bytes) => Ok(Some(bytes)),
        None => {
            Err(Error::input(key, text, "it is not an amount of memory", "for example \"8 GB\", or a number of bytes"))
        }
    }
}

/// The vertices with rings: a word, or their points.
fn corners(section: &Section) -> Result<Option<Corners>> {
    let Some(value) = section.get("corners") else { return Ok(None) };
    if let Kind::Array(_) = value.kind {
        let example = "[[0.0, 0.0], [1.0, 0.0]]";
        let point = |key: &str, value: &Value| pair(key, value, "[0.0, 0.0]", number);
        return list(&section.key("corners"), value, example, point).map(|points| Some(Corners::Points(points)));
    }
    let words = [Corners::Auto, Corners::None, Corners::All];
    let word = section.choice("corners", &[("auto", 0), ("none", 1), ("all", 2)])?;
    Ok(word.map(|word| words[word].clone()))
}

/// Cells of finite elements along a side, where nothing else is asked for.
const CELLS: usize = 256;

/// The cells of finite elements, if these are asked for.
fn cells(section: &Section, is_fem: bool) -> Result<Option<[usize; 2]>> {
    let Some(value) = section.get("cells") else { return Ok(is_fem.then_some([CELLS; 2])) };
    let key = section.key("cells");
    if !is_fem {
        return Err(Error::input(key, "...", "only method = \"fem\" has cells", "use subdomains and points"));
    }
    match value.kind {
        Kind::Integer(_) => Ok(Some([whole(&key, value)?; 2])),
        _ => pair(&key, value, "[256, 256]", whole).map(Some),
    }
}

fn network(section: &Section, directory: &Path, settings: &mut Settings) -> Result<()> {
    let activations = [("tanh", Activation::Tanh), ("sin", Activation::Sin), ("gaussian", Activation::Gaussian)];
    overlay(&mut settings.activation, section.choice("activation", &activations)?);
    let initializations = [
        ("suggested", Initialization::Suggested),
        ("weighted", Initialization::Weighted),
        ("manual", Initialization::Manual),
        ("he", Initialization::He),
        ("glorot", Initialization::Glorot),
    ];
    overlay(&mut settings.initialization, section.choice("initialization", &initializations)?);
    settings.scale = section.number("scale")?.or(settings.scale);
    settings.c = section.number("c")?.or(settings.c);
    overlay(&mut settings.radius, section.number("r")?);
    overlay(&mut settings.seed, section.whole("seed")?.map(|seed| seed as u64));
    overlay(
        &mut settings.truncation,
        section.choice("truncation", &[("qr", Truncation::Qr), ("svd", Truncation::Svd)])?,
    );
    settings.drop_below = section.number("cut")?.or(settings.drop_below);
    let sharing = section.choice("sharing", &[("shared", Sharing::Shared), ("independent", Sharing::Independent)])?;
    overlay(&mut settings.sharing, sharing);
    if let Some(file) = section.text("weights")? {
        if sharing == Some(Sharing::Shared) {
            let problem = "weights from a file are those of every subdomain";
            return Err(Error::input(section.key("sharing"), "\"shared\"", problem, "leave it out"));
        }
        settings.sharing = Sharing::Independent;
        settings.weights = Some(Arc::new(weights(&directory.join(file))?));
    }
    Ok(())
}

fn interface(section: &Section, settings: &mut Settings) -> Result<()> {
    let solvers = [("cg", InterfaceSolver::Cg), ("direct", InterfaceSolver::Direct)];
    overlay(&mut settings.interface, section.choice("solver", &solvers)?);
    overlay(&mut settings.interface_tolerance, section.number("tolerance")?);
    overlay(&mut settings.max_iterations, section.whole("max_iterations")?);
    overlay(&mut settings.refinements, section.whole("refinements")?);
    Ok(())
}

fn overlay<T>(setting: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *setting = value;
    }
}

/// Hidden layers from the arrays `w`, of shape (subdomains, 2, M), and `b`, of shape (subdomains, M).
fn weights(path: &Path) -> Result<GivenWeights> {
    let mut arrays = npz::read(path)?;
    let refuse = |problem: String| Error::File {
        path: path.into(),
        problem,
        hint: "weights are w of shape (subdomains, 2, neurons) and b of shape (subdomains, neurons)".into(),
    };
    let mut take = |name: &str| arrays.remove(name).ok_or_else(|| refuse(format!("there is no array `{name}` in it")));
    let (w, b) = (take("w")?, take("b")?);
    match (&w.shape[..], &b.shape[..]) {
        (&[s, 2, m], &[t, n]) if s == t && m == n => Ok(GivenWeights { neurons: m, w: w.data, b: b.data }),
        (w, b) => Err(refuse(format!("w has the shape {w:?} and b {b:?}"))),
    }
}
