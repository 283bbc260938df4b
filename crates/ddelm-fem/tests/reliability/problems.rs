//! The problems: jumps, spikes, layers, resonances, thin rectangles, other domains; each with what its solution is compared with.

use super::*;

/// Numbers between 0 and 1 from a seed, the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.roll()
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.roll() * choices.len() as f64) as usize]
    }
}

/// A problem file on the unit square.
pub fn file(equation: &str, boundary: &str, counts: [usize; 2], points: usize) -> String {
    on([0.0, 1.0], [0.0, 1.0], equation, boundary, counts, points)
}

fn on(x: [f64; 2], y: [f64; 2], equation: &str, boundary: &str, counts: [usize; 2], points: usize) -> String {
    format!(
        "[domain]\nx = {x:?}\ny = {y:?}\n[equation]\n{equation}\n[boundary]\n{boundary}\n[discretization]\n\
         subdomains = {counts:?}\npoints = {points}\n"
    )
}

/// A layer of another material behind x = at: `a = 1` before, `contrast` behind. u is `w / a` with w = 0 at the jump.
fn layered(name: &str, at: f64, contrast: f64, counts: [usize; 2], points: usize) -> Trial {
    let diffusion = format!("1 + {}*step(x - {at})", contrast - 1.0);
    let w = format!("(x - {at})*exp(x)*sin(3*y + 1)");
    let source = format!("(8*(x - {at}) - 2)*exp(x)*sin(3*y + 1)");
    let u = format!("{w} / ({diffusion})");
    let text = file(
        &format!("diffusion = \"{diffusion}\"\nsource = \"{source}\""),
        &format!("dirichlet = \"{u}\""),
        counts,
        points,
    );
    Trial::exact(format!("{name} at {at:.3}, 1:{contrast:.0e}"), text, u)
}

pub fn jumps_inside() -> Vec<Trial> {
    let mut dice = Dice(1);
    let mut trials: Vec<Trial> = (0..6)
        .map(|_| {
            let (at, contrast) = (dice.between(0.1, 0.9), 10f64.powf(dice.between(0.02, 4.0)));
            let counts = [dice.one_of(&[2, 3, 4, 5]), dice.one_of(&[2, 4])];
            layered("jump inside", at, contrast, counts, dice.one_of(&[8, 12, 16]))
        })
        .collect();
    for _ in 0..3 {
        let (at, steep) = (dice.between(0.3, 0.7), 10f64.powf(dice.between(1.5, 3.5)));
        let counts = dice.one_of(&[[3, 3], [4, 4], [2, 5]]);
        let equation = format!("diffusion = \"2 + tanh({steep}*(x - {at}))\"\nsource = \"1\"");
        let text = file(&equation, "dirichlet = \"0\"", counts, 12);
        trials.push(Trial::new(format!("steep diffusion {steep:.0}"), text, Truth::Elements(700, 3e-4)));
    }
    for _ in 0..3 {
        let (at, counts) = (dice.between(0.3, 0.7), dice.one_of(&[[3, 3], [4, 4], [2, 5]]));
        let text = file(&format!("source = \"step(x - {at})*(1 + y)\""), "dirichlet = \"0\"", counts, 12);
        trials.push(Trial::new(format!("source jumps at {at:.3}"), text, Truth::Elements(700, 2e-4)));
    }
    trials
}

pub fn jumps_on_lines() -> Vec<Trial> {
    let contrasts = [10.0, 1e3, 1e6];
    let mut trials: Vec<Trial> =
        contrasts.iter().map(|&contrast| layered("jump on a line", 0.5, contrast, [4, 3], 14)).collect();
    trials.push(layered("jump on a line", 0.25, 30.0, [4, 2], 10));
    trials.push(layered("jump on a line", 0.4, 5.0, [5, 2], 12));
    let board = |contrast: f64| format!("1 + {}*step((x - 0.5)*(y - 0.5))", contrast - 1.0);
    for contrast in [3.0, 10.0] {
        let equation = format!("diffusion = \"{}\"\nsource = \"1\"", board(contrast));
        let text = file(&equation, "dirichlet = \"0\"", [4, 4], 12);
        trials.push(Trial::new(format!("checkerboard 1:{contrast}"), text, Truth::Elements(768, 3e-3)));
    }
    // Five rectangular materials: a battery. The solution is singular where they meet.
    let battery = "1 + 24*step(0.25 - x)*step(y - 0.5) + 6*step(x - 0.75) + 49*step(x - 0.25)*step(0.75 - x)*step(0.25 - y) \
                   + 4*step(x - 0.5)*step(0.75 - x)*step(y - 0.5)";
    let text = file(&format!("diffusion = \"{battery}\"\nsource = \"1 + x\""), "dirichlet = \"0\"", [4, 4], 12);
    trials.push(Trial::new("five materials", text, Truth::Elements(768, 5e-3)));
    trials
}

pub fn peaks_and_spikes() -> Vec<Trial> {
    let mut dice = Dice(2);
    let mut trials = Vec::new();
    for _ in 0..6 {
        let (p, q, alpha) = (dice.between(0.2, 0.8), dice.between(0.2, 0.8), 10f64.powf(dice.between(1.5, 5.0)));
        let r = format!("((x - {p})^2 + (y - {q})^2)");
        let u = format!("exp(-{alpha}*{r})");
        let source = format!("({} - {}*{r})*{u}", 4.0 * alpha, 4.0 * alpha * alpha);
        let counts = dice.one_of(&[[2, 2], [4, 4], [5, 3]]);
        let text = file(&format!("source = \"{source}\""), &format!("dirichlet = \"{u}\""), counts, 14);
        trials.push(Trial::exact(format!("peak {alpha:.0e}"), text, u));
    }
    for base in [0.0, 1.0] {
        for alpha in [1e4, 1e5, 1e6] {
            let (p, q) = (dice.between(0.2, 0.8), dice.between(0.2, 0.8));
            let source = format!("{base} + {}*exp(-{alpha}*((x - {p})^2 + (y - {q})^2))", 0.3 * alpha);
            let text = file(&format!("source = \"{source}\""), "dirichlet = \"0\"", [4, 4], 12);
            trials.push(Trial::new(format!("{base} and a spike {alpha:.0e}"), text, Truth::Elements(1024, 2e-2)));
        }
    }
    let spike = "exp(-1e4*(x - 0.3)^2)";
    let text = file("source = \"1\"", &format!("dirichlet = \"{spike}\""), [3, 3], 8);
    let changes = ["discretization.subdomains=[24,24]", "discretization.points=12"].map(String::from).to_vec();
    trials.push(Trial::new("spike on the boundary", text, Truth::Finer(changes, 1e-4)));
    trials
}

pub fn fronts_and_layers() -> Vec<Trial> {
    let mut dice = Dice(3);
    let mut trials = Vec::new();
    for _ in 0..4 {
        let (k, angle, c) = (10f64.powf(dice.between(0.8, 2.5)), dice.between(0.0, 1.5), dice.between(0.3, 0.9));
        let t = format!("tanh({k}*({}*x + {}*y - {c}))", angle.cos(), angle.sin());
        let text = file(
            &format!("source = \"{}*{t}*(1 - {t}^2)\"", 2.0 * k * k),
            &format!("dirichlet = \"{t}\""),
            dice.one_of(&[[3, 3], [4, 4], [6, 5]]),
            12,
        );
        trials.push(Trial::exact(format!("front {k:.0}"), text, t));
    }
    for epsilon in [0.1, 0.02, 3e-3, 5e-4] {
        let u = format!("x - (exp((x - 1)/{epsilon}) - exp(-1/{epsilon}))/(1 - exp(-1/{epsilon}))");
        let equation = format!("diffusion = \"{epsilon}\"\nadvection = [\"1\", \"0\"]\nsource = \"1\"");
        let text = file(&equation, &format!("dirichlet = \"{u}\""), [4, 2], 12);
        trials.push(Trial::exact(format!("outflow layer {epsilon}"), text, u));
    }
    for epsilon in [0.05, 0.01, 1e-3] {
        let u = format!("exp(-x/{epsilon}) + exp((y - 1)/{epsilon})");
        let equation = format!("diffusion = \"{}\"\nreaction = \"1\"\nsource = \"0\"", epsilon * epsilon);
        let text = file(&equation, &format!("dirichlet = \"{u}\""), [3, 3], 14);
        trials.push(Trial::exact(format!("reaction layers {epsilon}"), text, u));
    }
    trials
}

/// u for `-Laplacian u + c u = 1` on the unit square with u = 0 around it.
fn membrane(c: f64) -> FieldRef {
    use std::f64::consts::PI;
    function(move |x, y| {
        (1..600)
            .step_by(2)
            .map(|i| {
                let (k, f) = ((PI * i as f64).powi(2) + c, 4.0 / (PI * i as f64));
                let t = (y - 0.5).abs();
                let ratio = if k < 0.0 {
                    ((-k).sqrt() * t).cos() / (0.5 * (-k).sqrt()).cos()
                } else {
                    // cosh(s t) / cosh(s / 2) without overflow.
                    let s = k.sqrt();
                    (s * (t - 0.5)).exp() * (1.0 + (-2.0 * s * t).exp()) / (1.0 + (-s).exp())
                };
                f / k * (1.0 - ratio) * (PI * i as f64 * x).sin()
            })
            .sum()
    })
}

pub fn resonances() -> Vec<Trial> {
    let trial = |c: f64, counts: [usize; 2], points: usize, extra: &str| {
        let text = file(&format!("reaction = \"{c}\"\nsource = \"1\""), "dirichlet = \"0\"", counts, points) + extra;
        Trial::new(format!("reaction {c} on {counts:?}{extra}"), text, Truth::Function(membrane(c)))
    };
    let mut trials = Vec::new();
    for (c, counts, points) in [
        (-19.72, [2, 2], 11),
        (-19.72, [4, 4], 11),
        (-19.739, [4, 4], 16),
        (-19.7392, [3, 3], 16),
        (-98.69, [4, 4], 12),
        (-177.6, [3, 4], 14),
    ] {
        trials.push(trial(c, counts, points, ""));
    }
    for tolerance in ["1e-3", "1e-5"] {
        trials.push(trial(-19.72, [2, 2], 11, &format!("tolerance = {tolerance}\n")));
    }
    trials
}

pub fn oscillating() -> Vec<Trial> {
    let mut dice = Dice(5);
    let mut trials = Vec::new();
    for _ in 0..5 {
        let (k, depth) = (10f64.powf(dice.between(1.0, 2.4)), dice.between(0.2, 0.9));
        let a = format!("(1 + {depth}*sin({k}*x)*cos({k}*y))");
        let (ax, ay) =
            (format!("{}*cos({k}*x)*cos({k}*y)", depth * k), format!("(-{}*sin({k}*x)*sin({k}*y))", depth * k));
        let source = format!("2*{a}*sin(x + 1)*cos(y) - {ax}*cos(x + 1)*cos(y) + {ay}*sin(x + 1)*sin(y)");
        let u = "sin(x + 1)*cos(y)";
        let equation = format!("diffusion = \"{a}\"\nsource = \"{source}\"");
        let text = file(&equation, &format!("dirichlet = \"{u}\""), dice.one_of(&[[2, 2], [4, 4], [6, 6]]), 12);
        trials.push(Trial::exact(format!("diffusion oscillates {k:.0}"), text, u));
        // The source of this one is smooth, so that the diffusion alone has to be found out.
        let equation = format!("diffusion = \"{a}\"\nsource = \"1\"");
        let text = file(&equation, "dirichlet = \"0\"", [3, 3], 10);
        trials.push(Trial::new(format!("the same, source 1, {k:.0}"), text, Truth::Elements(1024, 3e-3)));
    }
    trials
}

pub fn thin_rectangles_and_conditions() -> Vec<Trial> {
    let finer = |subdomains: [usize; 2], own: f64| {
        let changes = [format!("discretization.subdomains={subdomains:?}"), "discretization.points=16".into()];
        Truth::Finer(changes.to_vec(), own)
    };
    let mut trials = Vec::new();
    for (length, counts) in [(20.0, [4, 1]), (50.0, [10, 2]), (0.02, [2, 6])] {
        let text = on([0.0, length], [0.0, 1.0], "source = \"1\"", "dirichlet = \"0\"", counts, 10);
        trials.push(Trial::new(
            format!("thin {length} x 1, {counts:?}"),
            text,
            finer([4 * counts[0], 4 * counts[1]], 1e-9),
        ));
    }
    let text = on(
        [0.0, 30.0],
        [0.0, 1.0],
        "source = \"0\"",
        "left = { dirichlet = \"sin(pi*y)\" }\nright = { neumann = \"0\" }\nbottom = { dirichlet = \"0\" }\ntop = { dirichlet = \"0\" }",
        [5, 2],
        12,
    );
    trials.push(Trial::exact(
        "decay along a channel",
        text,
        "sin(pi*y)*(exp(-pi*x) + exp(pi*(x - 60)))/(1 + exp(-60*pi))",
    ));
    let sides = [
        ("lid", "dirichlet = \"0\"\ntop = { dirichlet = \"1\" }"),
        ("half a side", "dirichlet = \"0\"\ntop = { dirichlet = \"step(x - 0.37)\" }"),
        ("corner of two kinds", "dirichlet = \"0\"\nright = { neumann = \"1\" }"),
        ("robin", "dirichlet = \"0\"\nright = { robin = { coefficient = \"1 + 50*y\", value = \"1\" } }"),
        (
            "robin jumps",
            "dirichlet = \"0\"\nright = { robin = { coefficient = \"1 + 50*step(y - 0.3)\", value = \"1\" } }",
        ),
        ("flux spike", "dirichlet = \"0\"\nleft = { neumann = \"100*exp(-1e5*(y - 0.43)^2)\" }"),
    ];
    for (name, boundary) in sides {
        let text = file("source = \"1\"", boundary, [4, 4], 10);
        trials.push(Trial::new(name, text, finer([24, 24], 1e-3)));
    }
    // Plates: a peak that is resolved, and one that is not.
    for alpha in [30.0_f64, 3e3] {
        let r = "((x - 0.41)^2 + (y - 0.57)^2)";
        let u = format!("exp(-{alpha}*{r})");
        let laplacian = format!("({}*{r} - {})*{u}", 4.0 * alpha * alpha, 4.0 * alpha);
        let (a, b, c) = (16.0 * alpha.powi(4), 64.0 * alpha.powi(3), 32.0 * alpha * alpha);
        let load = format!("({a}*{r}^2 - {b}*{r} + {c})*{u}");
        let text = file(
            &format!("plate = {{ load = \"{load}\" }}"),
            &format!("dirichlet = \"{u}\"\nlaplacian = \"{laplacian}\""),
            [3, 3],
            14,
        );
        trials.push(Trial::exact(format!("plate with a peak {alpha}"), text, u));
    }
    trials
}

/// Domains that are no rectangles, cut as they suggest.
pub fn other_domains() -> Vec<Trial> {
    let disk = "circle = { center = [0, 0], radius = 1 }";
    let corner = "polygon = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]";
    let gap = "x = [0, 2]\ny = [0, 1]\n[[domain.hole]]\ncircle = { center = [0.795, 0.5], radius = 0.2 }\n\
               [[domain.hole]]\ncircle = { center = [1.205, 0.5], radius = 0.2 }";
    let wedge = "polygon = [[-1, -1], [1, -1], [1, 1], [-1, 1]]\n[[domain.region]]\nname = 'a'\n\
                 polygon = [[0, 0], [1, 0.3], [1, 1], [0.2, 1]]\n[equation.regions.a]\ndiffusion = 100";
    let zero = "dirichlet = 0";
    let text = |domain: &str, equation: &str, boundary: &str, points: usize| {
        format!(
            "[domain]\n{domain}\n[equation]\n{equation}\n[boundary]\n{boundary}\n[discretization]\npoints = {points}\n"
        )
    };
    let finer = |size: f64, points: usize, own: f64| {
        let changes = [format!("discretization.size={size}"), format!("discretization.points={points}")];
        Truth::Finer(changes.to_vec(), own)
    };
    let spike = "exp(-1e5*((x - 0.2345)^2 + (y - 0.31)^2))";
    let mut trials: Vec<Trial> = [
        ("jump in a disk", disk, "diffusion = '1 + 99*step(x - 0.13)'\nsource = 1", zero, 12, finer(0.1, 8, 3e-2)),
        (
            "small jump in an L",
            corner,
            "diffusion = '1 + 0.02*step(x - 0.61)'\nsource = 1",
            zero,
            14,
            finer(0.1, 8, 2e-4),
        ),
        ("source jumps in a disk", disk, "source = 'sign(x - 0.1234)'", zero, 12, finer(0.1, 10, 1e-4)),
        ("reaction near resonance", disk, "reaction = -5.7831859\nsource = '1 + x'", zero, 12, finer(0.3, 20, 1e-7)),
        (
            "advection in a disk",
            disk,
            "diffusion = 1e-3\nadvection = [1, 0.5]\nsource = 1",
            zero,
            12,
            finer(0.1, 14, 2e-2),
        ),
        ("a corner", corner, "source = 1", zero, 12, finer(0.1, 12, 1e-4)),
        (
            "two kinds at a corner",
            corner,
            "source = 1",
            "dirichlet = 0\nside-4 = { neumann = 1 }",
            12,
            finer(0.1, 12, 1e-3),
        ),
        ("values jump on a circle", disk, "source = 0", "dirichlet = 'step(y - 0.2)'", 12, finer(0.1, 12, 5e-3)),
        ("a narrow gap", gap, "source = 1", "dirichlet = 0\nhole-1 = { dirichlet = 1 }", 10, finer(0.1, 14, 1e-6)),
        ("materials at an angle", wedge, "", zero, 12, finer(0.12, 12, 2e-3)),
        ("a spike in a disk", disk, &format!("source = '1 + 1e6*{spike}'"), zero, 10, finer(0.05, 10, 5e-2)),
    ]
    .into_iter()
    .map(|(name, domain, equation, boundary, points, truth)| {
        // The regions of a domain come after its equation.
        let text = match domain.split_once("\n[equation.regions.a]") {
            Some((domain, region)) => {
                text(domain, &format!("source = 1\n[equation.regions.a]{region}"), boundary, points)
            }
            None => text(domain, equation, boundary, points),
        };
        Trial::new(name, text, truth)
    })
    .collect();
    // Large and small, far away, with a condition that is nearly another one, nearly not elliptic.
    for scale in ["1e-9", "1", "1e9"] {
        let domain = format!("circle = {{ center = [0, 0], radius = {scale} }}");
        let u = format!("({scale}^2 - x^2 - y^2)/4");
        trials.push(Trial::exact(format!("a disk of {scale}"), text(&domain, "source = 1", zero, 12), u));
    }
    let far = "circle = { center = [1e6, -1e6], radius = 1 }";
    trials.push(Trial::exact("far away", text(far, "source = 4", zero, 12), "1 - (x - 1e6)^2 - (y + 1e6)^2"));
    let robin = "robin = { coefficient = 1e12, value = 0 }";
    trials.push(Trial::exact("robin 1e12", text(disk, "source = 4", robin, 12), "1 - x^2 - y^2"));
    let tensor = "diffusion = [[1, 0.9999], [0.9999, 1]]\nsource = 1";
    trials.push(Trial::exact("a tensor nearly singular", text(disk, tensor, zero, 12), "(1 - x^2 - y^2)/4"));
    let tolerance = text(disk, &format!("source = '1 + 1e6*{spike}'"), zero, 8) + "tolerance = 1e-4\n";
    let smaller = vec!["discretization.tolerance=1e-6".into(), "discretization.estimate=true".into()];
    trials.push(Trial::new("a spike to a tolerance", tolerance, Truth::Finer(smaller, 1e-5)));
    trials
}

/// Periodic sides, in one direction and in both.
pub fn periodic_sides() -> Vec<Trial> {
    let finer = |own: f64| {
        let changes = ["discretization.subdomains=[16,16]", "discretization.points=14"];
        Truth::Finer(changes.map(String::from).to_vec(), own)
    };
    let (one, both) = ("periodic = [\"x\"]\ndirichlet = 0", "periodic = [\"x\", \"y\"]\nmean = 0");
    let trial = |name: &str, equation: &str, boundary: &str, counts: [usize; 2], points: usize, own: f64| {
        Trial::new(name, file(equation, boundary, counts, points), finer(own))
    };
    let wave = "exp(sin(2*pi*x))*cos(2*pi*y)";
    vec![
        trial("periodic, smooth", &format!("source = \"{wave}\""), both, [3, 3], 10, 1e-11),
        trial("periodic, a jump", "source = \"sign(x - 0.37)*sin(2*pi*y)\"", both, [3, 3], 12, 1e-3),
        trial("a strip, smooth", &format!("source = \"{wave}\""), one, [3, 3], 10, 1e-11),
        trial("a strip, resonance", &format!("reaction = -9.8\nsource = \"1 + {wave}\""), one, [2, 2], 8, 1e-9),
        trial("a strip, a jump", "diffusion = \"1 + 9*step(x - 0.3)\"\nsource = 1", one, [4, 3], 10, 1e-2),
    ]
}
