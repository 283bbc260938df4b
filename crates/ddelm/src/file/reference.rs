//! The reference of problem files: every key, what it takes, what it is unless given, and what it means.
//!
//! The names are those that the reader knows, from its own lists; the texts stand here. A key without a text fails a test, so
//! that the reference cannot fall behind the reader.

use serde::Serialize;

use super::{ROOT, boundary, choices, domain, eigenvalues, equation, names, nonlinear, output, regions, time};

/// A table of a problem file.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Its path: `discretization`; empty for the top of the file. `NAME` stands for a name of the user's.
    pub path: &'static str,
    /// Whether there may be several of them, in double brackets: `[[domain.hole]]`.
    pub several: bool,
    /// How its keys go together; empty where each stands for itself.
    pub about: &'static str,
    /// Its keys. Tables inside of it are tables of their own.
    pub keys: Vec<Key>,
}

/// A key of a problem file.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub value: &'static str,
    /// What it is unless given; empty where it must be, or means nothing.
    pub default: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// The lists of the reader, by the path of their table. A list that is missing here is missing in the reference.
const LISTS: &[(&str, &[&str])] = &[
    ("", ROOT),
    ("domain", domain::DOMAIN),
    ("domain.circle", domain::CIRCLE),
    ("domain.ellipse", domain::ELLIPSE),
    ("domain.outline", domain::PIECE),
    ("domain.outline.arc", domain::ARC),
    ("domain.hole", domain::INNER),
    ("domain.region", domain::INNER),
    ("equation", equation::EQUATION),
    ("equation.plate", equation::PLATE),
    ("equation.regions.NAME", regions::REGION),
    ("boundary", boundary::WHOLE),
    ("boundary.NAME", boundary::CONDITION),
    ("boundary.NAME.robin", boundary::ROBIN),
    ("boundary.SIDE.part", boundary::PART),
    ("exact", equation::EXACT),
    ("discretization", choices::DISCRETIZATION),
    ("network", choices::NETWORK),
    ("interface", choices::INTERFACE),
    ("nonlinear", nonlinear::NONLINEAR),
    ("nonlinear.continuation", nonlinear::CONTINUATION),
    ("parameters", &["NAME"]),
    ("functions", &["NAME"]),
    ("fields.NAME", names::FIELD),
    ("output", output::OUTPUT),
    ("eigenvalues", eigenvalues::EIGENVALUES),
    ("time", time::TIME),
];

/// Tables of which there may be several.
const SEVERAL: &[&str] = &["domain.outline", "domain.hole", "domain.region", "boundary.SIDE.part"];

/// How the keys of a table go together, where that is not clear from each.
const ABOUT: &[(&str, &str)] = &[
    (
        "domain",
        "One of: x and y (a rectangle), polygon, circle, ellipse, outline, mesh. All but a mesh, which has its own, may have holes and regions.",
    ),
    (
        "domain.outline",
        "The pieces of an outline, one after the other. Each is one of: line, arc, spline, curve with t.",
    ),
    ("domain.hole", "One of: x and y, polygon, circle, ellipse, outline."),
    (
        "domain.region",
        "A part of the domain with coefficients of its own. One of: x and y, polygon, circle, ellipse, outline.",
    ),
    ("equation", "Either these, or plate."),
    ("boundary", "A condition that stands here, as in [boundary.NAME], holds on every part that has none of its own."),
    (
        "boundary.NAME",
        "A condition on a part of the boundary. One of: dirichlet, neumann, robin; of a plate, dirichlet with laplacian or normal.",
    ),
    ("boundary.SIDE.part", "A stretch of a side of a rectangle, along x or y, with a condition as in [boundary.NAME]."),
    ("discretization", "Either points, with subdomains (of a rectangle) or size; or tolerance."),
    ("fields.NAME", "Either file, or a random field: alpha, modes, seed."),
    ("nonlinear", "For equations and conditions with u in them."),
    ("eigenvalues", "With this table eigenvalues are found, and no source is needed."),
    ("time", "With this table the equation is u_t = -L u + f. Either steps or tolerance."),
];

const FIELD: &str = "number or formula";

/// Texts: table, key, value, default, meaning. Those of tables inside a table are left to their own entries.
const TEXTS: &[(&str, [&str; 4])] = &[
    (
        "",
        [
            "preset",
            "\"fast\" or \"paper\"",
            "\"fast\"",
            "the defaults of everything else: the fast method, or Algorithm 1 of the paper",
        ],
    ),
    (
        "",
        [
            "method",
            "\"schur\", \"elm\", \"locelm\" or \"fem\"",
            "\"schur\"",
            "how to solve: local networks coupled by a Schur complement; one network for the whole domain; local networks in one least-squares problem; linear finite elements, as a reference",
        ],
    ),
    ("domain", ["x", "[from, to]", "", "the ends of the rectangle in x"]),
    ("domain", ["y", "[from, to]", "", "the ends of the rectangle in y"]),
    (
        "equation",
        [
            "diffusion",
            "number, formula, or 2x2 array of them",
            "1",
            "a in -div(a grad u); a tensor by rows. It must be positive, and may jump where subdomains meet",
        ],
    ),
    ("domain", ["polygon", "[[x, y], ...]", "", "corners in order, either way round"]),
    (
        "domain",
        [
            "names",
            "array of strings",
            "side-1, side-2, ...",
            "names of the sides of the polygon, for conditions; the same name may come twice",
        ],
    ),
    ("domain", ["mesh", "name of a file", "", "a mesh of gmsh (2.2 or 4.1)"]),
    ("domain.circle", ["center", "[x, y]", "", "its centre"]),
    ("domain.circle", ["radius", "positive number", "", "its radius"]),
    ("domain.ellipse", ["center", "[x, y]", "", "its centre"]),
    ("domain.ellipse", ["axes", "[a, b]", "", "its half axes"]),
    ("domain.ellipse", ["angle", "degrees", "0", "by how much the first axis is turned"]),
    ("domain.outline", ["line", "[[x, y], [x, y]]", "", "a straight piece"]),
    ("domain.outline", ["spline", "[[x, y], ...]", "", "a smooth piece through points"]),
    ("domain.outline", ["curve", "[formula of t, formula of t]", "", "a smooth piece by formulas"]),
    ("domain.outline", ["t", "[from, to]", "", "the range of t of a curve"]),
    ("domain.outline", ["name", "string", "side-1, side-2, ...", "the name of the piece, for conditions"]),
    ("domain.outline.arc", ["center", "[x, y]", "", "the centre of the circle"]),
    ("domain.outline.arc", ["radius", "positive number", "", "its radius"]),
    ("domain.outline.arc", ["from", "degrees", "", "where the arc begins"]),
    ("domain.outline.arc", ["to", "degrees", "", "where it ends; counter-clockwise if larger"]),
    (
        "domain.hole",
        ["name", "string", "hole, or hole-1, hole-2, ...", "its name, for the condition on its sides: [boundary.NAME]"],
    ),
    ("domain.hole", ["x", "[from, to]", "", "the ends in x, of a rectangle"]),
    ("domain.hole", ["y", "[from, to]", "", "the ends in y, of a rectangle"]),
    ("domain.hole", ["polygon", "[[x, y], ...]", "", "corners in order, either way round"]),
    (
        "domain.hole",
        [
            "names",
            "array of strings",
            "side-1, side-2, ...",
            "names of the sides of the polygon, for conditions; the same name may come twice",
        ],
    ),
    ("domain.hole", ["circle", "{ center, radius }", "", "as in [domain]"]),
    ("domain.hole", ["ellipse", "{ center, axes, angle }", "", "as in [domain]"]),
    ("domain.hole", ["outline", "array of pieces", "", "as in [domain]"]),
    ("domain.region", ["name", "string", "", "its name, for its coefficients: [equation.regions.NAME]"]),
    ("domain.region", ["x", "[from, to]", "", "the ends in x, of a rectangle"]),
    ("domain.region", ["y", "[from, to]", "", "the ends in y, of a rectangle"]),
    ("domain.region", ["polygon", "[[x, y], ...]", "", "corners in order, either way round"]),
    (
        "domain.region",
        [
            "names",
            "array of strings",
            "side-1, side-2, ...",
            "names of the sides of the polygon, for conditions; the same name may come twice",
        ],
    ),
    ("domain.region", ["circle", "{ center, radius }", "", "as in [domain]"]),
    ("domain.region", ["ellipse", "{ center, axes, angle }", "", "as in [domain]"]),
    ("domain.region", ["outline", "array of pieces", "", "as in [domain]"]),
    (
        "equation.regions.NAME",
        [
            "diffusion",
            "number, formula, or 2x2 array of them",
            "that of [equation]",
            "a in the region; it may jump at its outline",
        ],
    ),
    ("equation.regions.NAME", ["advection", "[bx, by], numbers or formulas", "that of [equation]", "b in the region"]),
    ("equation.regions.NAME", ["reaction", "number or formula", "that of [equation]", "c in the region"]),
    ("equation.regions.NAME", ["source", "number or formula", "that of [equation]", "f in the region"]),
    ("boundary", ["periodic", "[\"x\"], [\"x\", \"y\"] or pairs of names", "none", "sides that are one and the same"]),
    ("boundary", ["mean", "number", "none", "the mean of u, where nothing else fixes it"]),
    ("boundary.SIDE.part", ["from", "number", "", "where it begins"]),
    ("boundary.SIDE.part", ["to", "number", "", "where it ends"]),
    ("boundary.SIDE.part", ["name", "string", "left-1, left-2, ...", "its name"]),
    ("nonlinear", ["initial", FIELD, "from the boundary values", "the first iterate of Newton's method"]),
    ("nonlinear", ["max_steps", "whole number", "50", "steps of Newton's method, at most"]),
    ("nonlinear", ["tolerance", "number", "1e-13", "the relative size of a step that is the last"]),
    ("nonlinear.continuation", ["parameter", "string", "", "the parameter that is followed from an easy value"]),
    ("nonlinear.continuation", ["from", "number", "", "its first value"]),
    ("nonlinear.continuation", ["to", "number", "", "its last value, that of the problem"]),
    ("parameters", ["NAME", "number", "", "a number that formulas use by its name"]),
    (
        "functions",
        ["NAME", "formula", "", "a function of x and y that formulas use as NAME(a, b), or NAME for NAME(x, y)"],
    ),
    ("equation", ["advection", "[bx, by], numbers or formulas", "none", "b in b . grad u"]),
    ("equation", ["reaction", FIELD, "0", "c in c u; negative for waves (Helmholtz)"]),
    ("equation", ["source", FIELD, "", "the right-hand side f"]),
    ("equation.plate", ["load", FIELD, "", "q in D Laplacian^2 u = q"]),
    ("equation.plate", ["rigidity", "positive number", "1", "D, the same everywhere"]),
    ("boundary.NAME", ["dirichlet", FIELD, "", "u on the boundary"]),
    ("boundary.NAME", ["neumann", FIELD, "", "the flux n . a grad u out of the domain"]),
    ("boundary.NAME", ["laplacian", FIELD, "", "of a plate, with dirichlet: Laplacian u (simply supported: 0)"]),
    ("boundary.NAME", ["normal", FIELD, "", "of a plate, with dirichlet: du/dn (clamped: 0)"]),
    ("boundary.NAME.robin", ["coefficient", FIELD, "", "k in n . a grad u + k u = g"]),
    ("boundary.NAME.robin", ["value", FIELD, "", "g in n . a grad u + k u = g"]),
    (
        "exact",
        [
            "u",
            "formula",
            "unknown",
            "the exact solution, if it is known: errors are measured against it. The solver does not use it",
        ],
    ),
    ("discretization", ["subdomains", "[nx, ny]", "", "subdomains in x and y; 4 x 4 to 16 x 16 is usual"]),
    (
        "discretization",
        ["size", "number", "from the outline; a rectangle needs one", "about the largest side of a subdomain"],
    ),
    ("discretization", ["points", "whole number", "", "intervals per side of a subdomain; 10 to 24 is usual"]),
    ("discretization", ["neurons", "whole number", "points^2", "neurons per subdomain"]),
    (
        "discretization",
        [
            "nodes",
            "\"auto\", \"chebyshev\", \"gauss\" or \"uniform\"",
            "of the preset",
            "where the nodes lie: with \"gauss\" rows are tested and not collocated, \"auto\" does that where advection is fast",
        ],
    ),
    (
        "discretization",
        [
            "corners",
            "\"auto\", \"none\", \"all\" or points",
            "\"auto\"; \"none\" for the preset paper",
            "vertices with rings, where the solution may be singular: those that need them, or all corners, ends of conditions \
             and points where materials meet; or those at points, [[0.0, 0.0], [1.0, 0.0]]. A plate has smaller subdomains \
             there, and those only where they are asked for",
        ],
    ),
    (
        "discretization",
        [
            "tolerance",
            "number between 0 and 1",
            "none",
            "the relative L2 error to reach; the solver then chooses subdomains and points",
        ],
    ),
    (
        "discretization",
        [
            "estimate",
            "true or false",
            "true without exact solution",
            "whether to estimate the error, by a second solution",
        ],
    ),
    ("discretization", ["cells", "whole number or [cx, cy]", "256", "cells of the grid of method = \"fem\""]),
    (
        "discretization",
        [
            "max_memory",
            "bytes, or text such as \"8 GB\"",
            "what the machine has",
            "memory that a solve may take; one that takes more does not start",
        ],
    ),
    ("discretization", ["max_subdomains", "whole number", "none", "subdomains beyond which a tolerance is given up"]),
    ("discretization", ["max_seconds", "number", "none", "seconds after which a tolerance is given up"]),
    ("eigenvalues", ["count", "whole number", "10", "how many eigenvalues to find"]),
    ("eigenvalues", ["near", "number", "0", "the number that they are nearest to"]),
    ("time", ["start", "number", "0", "when it begins"]),
    ("time", ["end", "number", "", "when it ends"]),
    ("time", ["initial", FIELD, "", "u at the start"]),
    ("time", ["steps", "whole number", "", "steps of equal length; or give tolerance"]),
    (
        "time",
        ["tolerance", "number", "", "the relative error at the end that the steps may make; it chooses their number"],
    ),
    (
        "time",
        ["method", "\"bdf1\", \"bdf2\", \"bdf3\" or \"bdf4\"", "\"bdf4\"", "the formula of backward differentiation"],
    ),
    ("time", ["times", "[t1, t2, ...]", "the end", "when the solution is written"]),
    (
        "time",
        [
            "nonlinear",
            "\"auto\" or \"implicit\"",
            "\"auto\"",
            "implicit: a source that depends on u is taken at the new time, as coefficients and conditions are, and not extrapolated",
        ],
    ),
    (
        "output",
        [
            "integrals",
            "{ NAME = \"flux(PART)\", ... }",
            "none",
            "numbers for the report: flux(PART), integral(FORMULA), integral(FORMULA, REGION), max(u), min(u)",
        ],
    ),
    ("network", ["activation", "\"tanh\", \"sin\" or \"gaussian\"", "\"tanh\"", "sigma of the hidden layer"]),
    (
        "network",
        [
            "initialization",
            "\"suggested\", \"weighted\", \"manual\", \"he\" or \"glorot\"",
            "of the preset",
            "how the random weights are drawn",
        ],
    ),
    (
        "network",
        [
            "scale",
            "positive number",
            "from the neurons",
            "half the range of the weights; `ddelm tune` looks for a good one",
        ],
    ),
    (
        "network",
        ["c", "positive number", "of the preset", "the constant of scale = c sqrt(neurons), where scale is not given"],
    ),
    (
        "network",
        [
            "r",
            "number, not negative",
            "1; 0.5 in the paper",
            "by how much of its side a subdomain is enlarged for the biases",
        ],
    ),
    ("network", ["seed", "whole number", "0", "seed of the weights; the same seed gives the same solution"]),
    (
        "network",
        [
            "weights",
            "name of an .npz file",
            "random",
            "hidden layers to use instead: w of shape (subdomains, 2, neurons), b of shape (subdomains, neurons)",
        ],
    ),
    (
        "network",
        [
            "sharing",
            "\"shared\" or \"independent\"",
            "of the preset",
            "one network in reference coordinates for all subdomains, or one each",
        ],
    ),
    ("network", ["truncation", "\"qr\" or \"svd\"", "\"qr\"", "how the inverse of a local matrix is truncated"]),
    (
        "network",
        [
            "cut",
            "number between 0 and 1",
            "of the preset",
            "directions smaller than this times the largest are dropped",
        ],
    ),
    (
        "interface",
        [
            "solver",
            "\"direct\" or \"cg\"",
            "of the preset",
            "a multifrontal factorization with refinement, or conjugate gradients",
        ],
    ),
    (
        "interface",
        ["tolerance", "number between 0 and 1", "1e-9", "relative residual at which conjugate gradients stop"],
    ),
    ("interface", ["max_iterations", "whole number", "100000", "iterations of conjugate gradients at most"]),
    ("interface", ["refinements", "whole number", "8", "steps of refinement after a direct solve at most"]),
    ("fields.NAME", ["alpha", "number", "", "how fast the random field varies; the paper takes 16 and 32"]),
    ("fields.NAME", ["modes", "whole number", "256", "number of waves"]),
    ("fields.NAME", ["seed", "whole number", "0", "seed of the field"]),
    (
        "fields.NAME",
        [
            "file",
            "name of an .npz file",
            "",
            "data on a grid (arrays x, y and values), through which a spline goes; or a random field (a, w, b)",
        ],
    ),
];

/// Every table of a problem file with its keys, in the order of the reader's lists.
pub fn reference() -> Vec<Table> {
    LISTS
        .iter()
        .map(|&(path, names)| Table {
            path,
            several: SEVERAL.contains(&path),
            about: ABOUT.iter().find(|(table, _)| *table == path).map_or("", |(_, about)| about),
            keys: names.iter().filter(|name| !is_table(path, name)).filter_map(|name| key(path, name)).collect(),
        })
        .collect()
}

/// Whether a key of a table is a table of its own.
fn is_table(path: &str, name: &str) -> bool {
    let inside = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    LISTS.iter().any(|(other, _)| *other == inside || other.strip_suffix(".NAME") == Some(&inside))
}

fn key(path: &str, name: &str) -> Option<Key> {
    let found = TEXTS.iter().find(|(table, text)| *table == path && text[0] == name);
    found.map(|&(_, [name, value, default, about])| Key { name, value, default, about })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_the_reader_knows_has_a_text() {
        for &(path, names) in LISTS {
            for name in names.iter().filter(|name| !is_table(path, name)) {
                assert!(key(path, name).is_some(), "[{path}] {name}: add a text to file/reference.rs");
            }
        }
        assert_eq!(reference().len(), LISTS.len());
        for path in SEVERAL.iter().chain(ABOUT.iter().map(|(path, _)| path)) {
            assert!(LISTS.iter().any(|(other, _)| other == path), "[{path}]: there is no such table");
        }
    }
}
