//! Random problems with known solutions and random tolerances from 1e-4 to 1e-10: smooth, peaks, fronts, layers, corners,
//! jumps along lines, on rectangles, polygons and disks. A number makes a problem, the same on every machine.

/// A problem file with its exact solution.
pub struct RandomProblem {
    /// What it is.
    pub name: String,
    /// The problem file, with a tolerance.
    pub text: String,
    /// The tolerance.
    pub tolerance: f64,
}

/// Numbers that look random (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        let t = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        // Few digits, so that a file can be read.
        ((low + t * (high - low)) * 1e4).round() / 1e4
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.next() % all.len() as u64) as usize]
    }

    /// A power of ten between two exponents, to two digits.
    fn power(&mut self, low: f64, high: f64) -> f64 {
        let value = 10f64.powf(self.within(low, high));
        format!("{value:.1e}").parse().expect("a number")
    }
}

/// `u` and `-Lap u` of a sum of waves.
fn waves(dice: &mut Dice, most: f64) -> [String; 2] {
    let (mut u, mut f) = (String::from("0"), String::from("0"));
    for _ in 0..2 {
        let [a, b, c, s] =
            [dice.within(-most, most), dice.within(-most, most), dice.within(0.0, 6.0), dice.within(0.3, 1.0)];
        let wave = format!("sin({a}*x + ({b})*y + {c})");
        u += &format!(" + {s}*{wave}");
        f += &format!(" + {}*{wave}", s * (a * a + b * b));
    }
    [u, f]
}

/// A domain that has no re-entrant corner.
fn domain(dice: &mut Dice) -> String {
    match dice.next() % 4 {
        0 => "x = [0, 1]\ny = [0, 1]".into(),
        1 => format!("x = [{}, 1.2]\ny = [-0.5, {}]", dice.within(-1.0, 0.2), dice.within(0.4, 1.0)),
        2 => format!("circle = {{ center = [0.5, 0.4], radius = {} }}", dice.within(0.5, 1.0)),
        _ => format!(
            "polygon = [[0, 0], [1.1, {}], [{}, 0.9], [-0.2, {}]]",
            dice.within(-0.3, 0.3),
            dice.within(0.8, 1.4),
            dice.within(0.7, 1.2)
        ),
    }
}

fn whole(domain: &str, equation: &str, exact: &str) -> String {
    format!(
        "[domain]\n{domain}\n[equation]\n{equation}\n[boundary]\ndirichlet = \"{exact}\"\n[exact]\nu = \"{exact}\"\n"
    )
}

fn smooth(dice: &mut Dice) -> String {
    let [u, f] = waves(dice, 9.0);
    let reaction = dice.within(0.0, 5.0);
    whole(&domain(dice), &format!("reaction = {reaction}\nsource = \"{f} + {reaction}*({u})\""), &u)
}

fn peak(dice: &mut Dice) -> String {
    let [u, f] = waves(dice, 4.0);
    let (alpha, at) = (dice.power(1.0, 4.5), [dice.within(0.1, 0.9), dice.within(0.1, 0.8)]);
    let square = format!("((x-({}))^2 + (y-({}))^2)", at[0], at[1]);
    let bump = format!("exp(-{alpha}*{square})");
    whole(
        &domain(dice),
        &format!("source = \"{f} + (4*{alpha} - 4*{alpha}^2*{square})*{bump}\""),
        &format!("{u} + {bump}"),
    )
}

fn front(dice: &mut Dice) -> String {
    let [u, f] = waves(dice, 3.0);
    let (alpha, radius) = (dice.power(0.8, 2.0), dice.within(0.5, 0.9));
    let r = format!("hypot(x+{}, y+{})", dice.within(1.2, 1.5), dice.within(0.6, 1.0));
    let w = format!("({alpha}*({r} - {}))", radius + 1.2);
    let source = format!("{f} + 2*{alpha}^2*{w}/(1 + {w}^2)^2 - {alpha}/({r}*(1 + {w}^2))");
    whole(&domain(dice), &format!("source = \"{source}\""), &format!("{u} + atan({w})"))
}

/// Advection toward a side, or a large reaction: layers that solve the equation without a source, beside waves.
fn layer(dice: &mut Dice) -> String {
    let [u, f] = waves(dice, 4.0);
    let epsilon = dice.power(-3.0, -0.5);
    let square = "x = [0, 1]\ny = [0, 1]";
    if dice.next().is_multiple_of(2) {
        let exact = format!("{u} + exp((x-1)/{epsilon})");
        // b = (1, 0): the slope of waves is not asked of the formula, so the waves are in y alone.
        let (k, c) = (dice.within(1.0, 8.0), dice.within(0.0, 3.0));
        let exact = exact.replace(&u, &format!("cos({k}*y + {c})"));
        let source = format!("{epsilon}*{}*cos({k}*y + {c})", k * k);
        whole(square, &format!("diffusion = {epsilon}\nadvection = [1, 0]\nsource = \"{source}\""), &exact)
    } else {
        let kappa = 1.0 / epsilon;
        let exact = format!("{u} + exp(-{kappa}*y)");
        whole(square, &format!("reaction = {}\nsource = \"{f} + {}*({u})\"", kappa * kappa, kappa * kappa), &exact)
    }
}

/// A corner of a random angle with its leading singular function, beside waves.
fn corner(dice: &mut Dice) -> String {
    let [u, f] = waves(dice, 4.0);
    let omega: f64 = dice.one_of(&[1.2, 1.35, 1.5, 1.6, 1.75, 1.85]) * std::f64::consts::PI;
    let mut points = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]];
    let turns = [([-1.0, -1.0], 1.25 * std::f64::consts::PI), ([1.0, -1.0], 1.75 * std::f64::consts::PI)];
    points.extend(turns.iter().filter(|c| c.1 < omega - 1e-9).map(|c| c.0));
    let (s, c) = omega.sin_cos();
    let length = 1.0 / s.abs().max(c.abs());
    points.push([length * c, length * s].map(|v| if v.abs() < 1e-12 { 0.0 } else { v }));
    let (half_s, half_c) = (0.5 * omega).sin_cos();
    let a = std::f64::consts::PI / omega;
    let angle = format!("{} + atan2({half_c:e}*y - {half_s:e}*x, {half_c:e}*x + {half_s:e}*y)", 0.5 * omega);
    let exact = format!("{u} + hypot(x,y)^{a}*sin({a}*({angle}))");
    whole(&format!("polygon = {points:?}"), &format!("source = \"{f}\""), &exact)
}

/// A diffusion that jumps across a line: `u = sin(k (x - x0)) cos(m y) / a` has a continuous flux.
fn jump(dice: &mut Dice) -> String {
    let (at, k, m) = (dice.within(0.2, 0.8), dice.within(1.0, 6.0), dice.within(1.0, 6.0));
    let a = dice.power(-2.0, 2.0);
    let wave = format!("sin({k}*(x - {at}))*cos({m}*y)");
    let domain = format!(
        "polygon = [[0, 0], [1, 0], [1, 1], [0, 1]]\n[[domain.region]]\nname = \"left\"\npolygon = [[0, 0], [{at}, 0], [{at}, 1], [0, 1]]"
    );
    let exact = format!("{wave}/if(x < {at}, {a}, 1)");
    let equation = format!("source = \"{}*{wave}\"\n[equation.regions.left]\ndiffusion = {a}", k * k + m * m);
    whole(&domain, &equation, &exact)
}

/// Makes the text of a problem file.
type Kind = fn(&mut Dice) -> String;

/// What kinds there are.
const KINDS: [(&str, Kind); 6] =
    [("smooth", smooth), ("peak", peak), ("front", front), ("layer", layer), ("corner", corner), ("jump", jump)];

/// Problem number k.
pub fn problem(k: u64) -> RandomProblem {
    let mut dice = Dice(k.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(2026));
    let (kind, make) = KINDS[(k % KINDS.len() as u64) as usize];
    let tolerance = dice.power(-10.0, -4.0);
    let text = make(&mut dice);
    RandomProblem {
        name: format!("{k:3} {kind}"),
        text: format!("{text}[discretization]\ntolerance = {tolerance:e}\n"),
        tolerance,
    }
}

/// A smooth problem on the unit square, without a tolerance.
#[allow(dead_code, reason = "a benchmark compares these with fixed sizes")]
pub fn smooth_square(k: u64) -> String {
    let mut dice = Dice(k.wrapping_add(77));
    let [u, f] = waves(&mut dice, 9.0);
    whole("x = [0, 1]\ny = [0, 1]", &format!("source = \"{f}\""), &u)
}

/// A smooth problem with a diffusion that varies, on the unit square, without a tolerance.
#[allow(dead_code, reason = "a benchmark compares these with fixed sizes")]
pub fn variable_square(k: u64) -> String {
    let mut dice = Dice(k.wrapping_add(177));
    let mut draw = |most: f64| [dice.within(-most, most), dice.within(-most, most), dice.within(0.0, 6.0)];
    let ([a, b, c], [p, q, r]) = (draw(9.0), draw(4.0));
    let (phase, turn) = (format!("{a}*x + ({b})*y + {c}"), format!("{p}*x + ({q})*y + {r}"));
    let diffusion = format!("(2 + sin({turn}))");
    let source = format!("{}*{diffusion}*sin({phase}) - ({})*cos({turn})*cos({phase})", a * a + b * b, a * p + b * q);
    let equation = format!("diffusion = \"{diffusion}\"\nsource = \"{source}\"");
    whole("x = [0, 1]\ny = [0, 1]", &equation, &format!("sin({phase})"))
}
