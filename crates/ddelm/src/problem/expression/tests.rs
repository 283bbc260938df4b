//! Formulas as a whole: text in, values and gradients out.

use std::f64::consts::{E, PI};

use proptest::prelude::*;

use super::*;
use crate::algebra::elementary::{self, EXP_RANGE, SINE_RANGE};
use crate::problem::field;

fn value(formula: &Formula, x: f64, y: f64) -> f64 {
    let mut out = [f64::NAN];
    formula.values(&Samples::at(&[x], &[y]), &mut out).unwrap();
    out[0]
}

fn gradient(formula: &Formula, x: f64, y: f64) -> [f64; 2] {
    let (mut dx, mut dy) = ([f64::NAN], [f64::NAN]);
    assert!(formula.gradients(&Samples::at(&[x], &[y]), &mut dx, &mut dy).unwrap());
    [dx[0], dy[0]]
}

fn parsed(text: &str) -> Formula {
    Formula::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn values_of_a_table() {
    let (x, y) = (0.7, -1.3);
    let cases = [
        ("1", 1.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-3", 1e-3),
        ("2.5E+4", 25000.0),
        ("2*e", 2.0 * E),
        ("2e1*e", 20.0 * E),
        ("pi", PI),
        ("x", x),
        ("y", y),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^3^2", 512.0),
        ("2**3**2", 512.0),
        ("2^-1", 0.5),
        ("2^-1^2", 0.5),
        ("-x^2", -(x * x)),
        ("2*-x", -2.0 * x),
        ("2--x", 2.0 + x),
        ("- - + x", x),
        ("2^-x*y", 2f64.powf(-x) * y),
        ("1 - 2 - 3", -4.0),
        ("8/4/2", 1.0),
        ("8/4*2", 4.0),
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("x/y*y/x", x / y * y / x),
        ("-8^(1/3)", -2.0),
        ("y^3", y * y * y),
        ("y^-3", 1.0 / (y * y * y)),
        ("y^17", y.powf(17.0)),
        ("y^0", 1.0),
        ("x^0.5", x.sqrt()),
        ("x^2.5", x.powf(2.5)),
        ("e^x", x.exp()),
        ("x^y", x.powf(y)),
        ("pow(x, y)", x.powf(y)),
        ("pow(y, 2)", y * y),
        ("log(x)", x.ln()),
        ("ln(x)", x.ln()),
        ("arctan2(y, x)", y.atan2(x)),
        ("atan2(y, x)", y.atan2(x)),
        ("max(x, y) - min(x, y)", x - y),
        ("mod(y, 1)", y + 2.0),
        ("step(y) + 2*step(x)", 2.0),
        ("round(y)", -1.0),
        ("erf(0.5)", 0.5204998778130465),
        ("erfc(2)", 0.004677734981047266),
        ("  ( x+\ty )\n", x + y),
        ("(4*pi^2 - 1)*sin(2*pi*x)*exp(y)", (4.0 * PI * PI - 1.0) * (2.0 * PI * x).sin() * y.exp()),
    ];
    for (text, expected) in cases {
        let found = value(&parsed(text), x, y);
        assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{text}: {found:?}, not {expected:?}");
    }
}

#[test]
fn values_that_are_not_finite_are_passed_on() {
    assert!(value(&parsed("sqrt(y)"), 0.0, -1.0).is_nan());
    assert_eq!(value(&parsed("1/x"), 0.0, 0.0), f64::INFINITY);
    assert!(parsed("0/0").constant().unwrap().is_nan());
}

#[test]
fn constants_are_recognised() {
    assert_eq!(parsed("-(2 + 3)*sin(pi/2)").constant(), Some(-5.0));
    assert_eq!(parsed("x^0").constant(), Some(1.0));
    assert_eq!(parsed("0*x").constant(), None);
}

#[test]
fn the_text_is_kept() {
    let formula: Formula = " x +  1 ".parse().unwrap();
    assert_eq!((formula.text(), formula.describe().as_str()), ("x +  1", "x +  1"));
    assert_eq!(format!("{formula:?}"), "Formula(\"x +  1\")");
    assert_eq!(value(&formula.clone(), 2.0, 0.0), 3.0);
}

#[test]
fn reserved_names() {
    assert!(["x", "t", "uy", "pi", "sin", "arctan2", "if", "clamp"].into_iter().all(is_reserved));
    assert!(!is_reserved("grf"));
}

#[test]
fn powers_have_the_right_slope_at_zero() {
    let cases =
        [("x", 1.0), ("x^2", 0.0), ("x^3", 0.0), ("x^1.5", 0.0), ("x^20", 0.0), ("x*y^0", 1.0), ("(x+1)^3", 3.0)];
    for (text, expected) in cases {
        assert_eq!(gradient(&parsed(text), 0.0, 0.0), [expected, 0.0], "{text}");
    }
}

#[test]
fn what_does_not_change_has_no_derivative() {
    // The slopes in y are infinite or not a number here; those in x are still zero.
    for text in ["sqrt(y)", "log(y)", "y^0.3", "0.3*y^(-1/2)"] {
        assert_eq!(gradient(&parsed(text), 0.5, 0.0)[0], 0.0, "{text}");
    }
    assert_eq!(gradient(&parsed("(-1)^floor(x)"), 0.5, 0.0), [0.0; 2]);
}

#[test]
fn every_block_is_written() {
    let formula = parsed("3*x + y^2 + 1");
    for n in [0, 1, 127, 128, 129, 1000] {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let y: Vec<f64> = (0..n).map(|i| (i % 7) as f64).collect();
        let [mut u, mut dx, mut dy] = [(); 3].map(|()| vec![f64::NAN; n]);
        formula.values(&Samples::at(&x, &y), &mut u).unwrap();
        assert!(formula.gradients(&Samples::at(&x, &y), &mut dx, &mut dy).unwrap());
        for i in 0..n {
            assert_eq!([u[i], dx[i], dy[i]], [3.0 * x[i] + y[i] * y[i] + 1.0, 3.0, 2.0 * y[i]]);
        }
    }
}

#[test]
fn fields_are_called_by_name() {
    let wave =
        field::function_with_gradient(|x, y| (2.0 * x + y).sin(), |x, y| [2.0, 1.0].map(|w| w * (2.0 * x + y).cos()));
    let fields = BTreeMap::from([("grf".into(), wave), ("rough".into(), field::function(|x, y| x * y))]);
    let formula = Formula::parse_with("tanh(grf(x, y)) + 1.1*grf(x*y, 3 - x)", &fields).unwrap();
    let direct = Formula::parse("tanh(sin(2*x + y)) + 1.1*sin(2*x*y + 3 - x)").unwrap();
    let n = 2500;
    let x: Vec<f64> = (0..n).map(|i| i as f64 / n as f64).collect();
    let y: Vec<f64> = x.iter().map(|x| (9.0 * x).cos()).collect();
    let [mut u, mut v] = [(); 2].map(|()| [(); 3].map(|()| vec![f64::NAN; n]));
    for (formula, [u, dx, dy]) in [(&formula, &mut u), (&direct, &mut v)] {
        formula.values(&Samples::at(&x, &y), u).unwrap();
        assert!(formula.gradients(&Samples::at(&x, &y), dx, dy).unwrap());
    }
    for (u, v) in u.iter().flatten().zip(v.iter().flatten()) {
        assert!((u - v).abs() < 1e-13);
    }
    let formula = Formula::parse_with("2*rough(x + 1, y)", &fields).unwrap();
    assert_eq!(value(&formula, 2.0, 3.0), 18.0);
    assert!(!formula.gradients(&Samples::at(&[2.0], &[3.0]), &mut [0.0], &mut [0.0]).unwrap());
}

#[test]
fn failures_of_fields_are_passed_on() {
    struct Broken;
    impl Field for Broken {
        fn values(&self, _: &Samples<'_>, _: &mut [f64]) -> Result<(), Failure> {
            Err("broken".into())
        }
        fn gradients(&self, _: &Samples<'_>, _: &mut [f64], _: &mut [f64]) -> Result<bool, Failure> {
            Err("broken".into())
        }
        fn describe(&self) -> String {
            "broken".into()
        }
    }
    let fields: BTreeMap<String, FieldRef> = BTreeMap::from([("f".into(), std::sync::Arc::new(Broken) as FieldRef)]);
    let formula = Formula::parse_with("1 + f(x, y)", &fields).unwrap();
    assert_eq!(formula.values(&Samples::at(&[0.0], &[0.0]), &mut [0.0]).unwrap_err().to_string(), "broken");
    assert_eq!(
        formula.gradients(&Samples::at(&[0.0], &[0.0]), &mut [0.0], &mut [0.0]).unwrap_err().to_string(),
        "broken"
    );
}

/// Names with all variables, a parameter, a field with jets and a function.
fn all_names() -> Names {
    let mut names = Names::default();
    names.add_parameter("k", 1.5).unwrap();
    let waves = crate::problem::random_field::RandomField::new(1.0, 3, 5).unwrap();
    names.add_field("grf", std::sync::Arc::new(waves)).unwrap();
    names.add_functions(&BTreeMap::from([("g".into(), "sin(k*x)*y + k^2".into())])).unwrap();
    names.with_variables(Variables { time: true, state: true })
}

/// The jets of a formula at one point (x, y, u, ux, uy).
fn jets(formula: &Formula, [x, y, u, ux, uy]: [f64; 5]) -> Jets {
    let state = field::State { u: &[u], ux: &[ux], uy: &[uy] };
    let mut out = Jets::default();
    let (x, y) = ([x], [y]);
    let at = Samples { t: 0.4, state: Some(state), ..Samples::at(&x, &y) };
    assert!(formula.jets(&at, &mut out).unwrap(), "{formula:?}");
    out
}

/// The largest difference of the jets to central differences of fourth order, of values for the first and of first derivatives
/// for the second, relative to their size.
fn jets_mismatch(formula: &Formula, at: [f64; 5]) -> f64 {
    const H: f64 = 1e-3;
    let found = jets(formula, at);
    let mut worst: f64 = 0.0;
    for i in 0..5 {
        let [a, b, c, d] = [2.0, 1.0, -1.0, -2.0].map(|step| {
            let mut moved = at;
            moved[i] += step * H;
            jets(formula, moved)
        });
        let slope = |of: &dyn Fn(&Jets) -> f64| (8.0 * (of(&b) - of(&c)) - (of(&a) - of(&d))) / (12.0 * H);
        let mut compare = |found: f64, expected: f64| worst = worst.max((found - expected).abs() / (1.0 + found.abs()));
        compare(found.first[i][0], slope(&|jets| jets.value[0]));
        for j in 0..5 {
            compare(found.second(i, j)[0], slope(&|jets| jets.first[j][0]));
        }
    }
    worst
}

#[test]
fn jets_of_every_function() {
    let names = all_names();
    let at = [0.31, 0.72, 0.55, -0.4, 0.83];
    let mut formulas: Vec<String> = Vec::new();
    for &(name, function) in function::FUNCTIONS {
        // Arguments in (0, 1) or just above 1, away from kinks and jumps, that depend on everything.
        let a = "(0.4 + 0.1*x*u - 0.05*ux*y*uy + 0.02*t)";
        let b = "(1.3 + 0.2*y*u^2 + 0.1*x*uy)";
        formulas.push(match function {
            function::Function::Unary(function::Unary::Acosh) => format!("{name}{b}"),
            function::Function::Unary(_) => format!("{name}{a}"),
            function::Function::Binary(_) => format!("{name}({a}, {b})"),
            function::Function::Clamp => format!("clamp({a}, 0.1, 2) + clamp({b}, 0, x*{a})"),
            function::Function::If => format!("if({a} < {b}, {a}*{b}, 1/0) + if(x > y, log(-1), u*ux)"),
        });
    }
    let others = ["u^3", "1 + u^2", "100*sinh(u)", "(1 + ux^2 + uy^2)^(-1/2)", "hypot(ux, uy)^2.5", "u*ux", "t*x", "7"];
    formulas.extend(others.map(String::from));
    formulas.extend(["grf*u", "grf(x*u, uy)*k", "g*u + g(ux, u*y)"].map(String::from));
    formulas.extend(["x*(x > 0) + (u < 1 && !(y == 2))*u^2", "-u/x - y^-3"].map(String::from));
    for text in formulas {
        let formula = Formula::parse_in(&text, &names).unwrap_or_else(|e| panic!("{text}: {e}"));
        let worst = jets_mismatch(&formula, at);
        assert!(worst < 1e-8, "{text}: {worst:e}");
    }
}

#[test]
fn jets_have_the_values_and_gradients_of_the_fast_path() {
    let names = all_names();
    let formula = Formula::parse_in("exp(x*y)/(1 + u^2) + sqrt(2 + ux*uy)*grf", &names).unwrap();
    let n = 700;
    let [x, y, u, ux, uy] =
        [0.3, 0.7, 1.1, 0.9, 0.5].map(|w| (0..n).map(|i| (w * i as f64).sin()).collect::<Vec<f64>>());
    let at = Samples { state: Some(field::State { u: &u, ux: &ux, uy: &uy }), ..Samples::at(&x, &y) };
    let [mut v, mut dx, mut dy] = [(); 3].map(|()| vec![f64::NAN; n]);
    let mut jets = Jets::new(3);
    formula.values(&at, &mut v).unwrap();
    assert!(formula.gradients(&at, &mut dx, &mut dy).unwrap() && formula.jets(&at, &mut jets).unwrap());
    assert_eq!((&jets.value, &jets.first[0], &jets.first[1]), (&v, &dx, &dy));
    assert!(jets.second.iter().flatten().all(|second| second.is_finite()) && jets.second[0].len() == n);
}

#[test]
fn jets_need_those_of_fields() {
    let fields = BTreeMap::from([("rough".into(), field::function(|x, y| x * y))]);
    let formula = Formula::parse_with("2*rough(x, y)", &fields).unwrap();
    assert!(!formula.jets(&Samples::at(&[0.0], &[0.0]), &mut Jets::default()).unwrap());
}

#[test]
fn branches_that_do_not_count_are_not_seen() {
    let formula = parsed("if(x > 0, log(x)*y, 3*x)");
    assert_eq!((value(&formula, -2.0, 5.0), gradient(&formula, -2.0, 5.0)), (-6.0, [3.0, 0.0]));
    assert_eq!((value(&formula, 1.0, 5.0), gradient(&formula, 1.0, 5.0)), (0.0, [5.0, 0.0]));
    let mut jets = Jets::default();
    assert!(formula.jets(&Samples::at(&[-2.0, 2.0], &[5.0, 5.0]), &mut jets).unwrap());
    assert_eq!((jets.second(0, 0), jets.second(0, 1)), (&[0.0, -1.25][..], &[0.0, 0.5][..]));
}

#[test]
fn derivatives_in_parameters() {
    let names = all_names();
    let derivative = |text: &str, parameter: &str| {
        let formula = Formula::parse_in(text, &names).unwrap();
        let mut out = [f64::NAN];
        assert!(formula.parameter_derivatives(parameter, &Samples::at(&[0.3], &[0.7]), &mut out).unwrap());
        out[0]
    };
    let (k, x, y) = (1.5f64, 0.3f64, 0.7);
    let g = x * (k * x).cos() * y + 2.0 * k;
    for (text, expected) in [("k*x", x), ("x^k", x.powf(k) * x.ln()), ("k^3", 3.0 * k * k), ("g", g), ("x + y", 0.0)] {
        assert!((derivative(text, "k") - expected).abs() < 1e-14, "{text}");
        assert_eq!(derivative(text, "other"), 0.0);
    }
    assert_eq!(Formula::parse_in("g + 1", &names).unwrap().parameters().collect::<Vec<_>>(), ["k"]);
    assert_eq!(Formula::parse_in("k^2", &names).unwrap().constant(), Some(2.25));
    // The argument of a field depends on the parameter, and the field does not know its slope.
    let mut names = names.clone();
    names.add_field("rough", field::function(|x, y| x * y)).unwrap();
    let formula = Formula::parse_in("rough(k*x, y)", &names).unwrap();
    assert!(!formula.parameter_derivatives("k", &Samples::at(&[0.3], &[0.7]), &mut [0.0]).unwrap());
}

#[test]
fn comparisons_bind_as_in_c() {
    let cases = [
        ("1 + 1 == 2", 1.0),
        ("1 < 2 && 3 > 4 || 5 != 6", 1.0),
        ("0 && 1 || 1", 1.0),
        ("1 || 1 && 0", 1.0),
        ("!0 + 1", 2.0),
        ("!(2 >= 2)", 0.0),
        ("-1 < -x^2", 1.0),
        ("2*(x <= 0.5) + 3*(x > 0.5)", 2.0),
        ("!x < 1", 1.0),
        ("clamp(7, -1, 2) + clamp(-7, -1, 2)", 1.0),
        ("if(0.2, 5, 6)", 5.0),
    ];
    for (text, expected) in cases {
        assert_eq!(value(&parsed(text), 0.5, 0.0), expected, "{text}");
    }
}

#[test]
fn what_is_known_of_the_points_is_passed_on_where_they_are_the_same() {
    struct Region;
    impl Field for Region {
        fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
            out.fill(at.patch.and_then(|patch| patch.region).map_or(-1.0, |region| region as f64));
            Ok(())
        }
        fn gradients(&self, _: &Samples<'_>, _: &mut [f64], _: &mut [f64]) -> Result<bool, Failure> {
            Ok(false)
        }
        fn describe(&self) -> String {
            "the region".into()
        }
    }
    let fields = BTreeMap::from([("r".into(), std::sync::Arc::new(Region) as FieldRef)]);
    let patch = field::Patch { subdomain: 0, region: Some(4), xi: &[[0.0; 2]; 2] };
    let at = Samples { patch: Some(patch), ..Samples::at(&[0.0; 2], &[1.0; 2]) };
    for (text, expected) in [("r", 4.0), ("r(x, y) + 1", 5.0), ("r(y, x)", -1.0)] {
        let mut out = [0.0; 2];
        Formula::parse_with(text, &fields).unwrap().values(&at, &mut out).unwrap();
        assert_eq!(out, [expected; 2], "{text}");
    }
}

/// An expression as a tree, evaluated by recursion.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    X,
    Y,
    Negate(Box<Tree>),
    Infix(char, Box<Tree>, Box<Tree>),
    /// The exponent is not 0 and at most 5 in size.
    Power(Box<Tree>, i32),
    Call(&'static str, Vec<Tree>),
}

impl Tree {
    fn value(&self, x: f64, y: f64) -> f64 {
        match self {
            Tree::Number(value) => *value,
            Tree::X => x,
            Tree::Y => y,
            Tree::Negate(a) => -a.value(x, y),
            Tree::Infix(operator, a, b) => {
                let (a, b) = (a.value(x, y), b.value(x, y));
                match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => a / b,
                }
            }
            Tree::Power(a, n) if a.is_constant() => a.value(x, y).powf(f64::from(*n)),
            Tree::Power(a, n) => {
                let a = a.value(x, y);
                let product = match n.abs() {
                    1 => a,
                    2 => a * a,
                    3 => a * a * a,
                    4 => (a * a) * (a * a),
                    _ => (a * a) * (a * a) * a,
                };
                if *n < 0 { 1.0 / product } else { product }
            }
            Tree::Call(name, arguments) => {
                match (*name, &arguments.iter().map(|a| a.value(x, y)).collect::<Vec<_>>()[..]) {
                    ("sin", [a]) if a.abs() <= SINE_RANGE => elementary::sin(*a),
                    ("sin", [a]) => a.sin(),
                    ("exp", [a]) if a.abs() <= EXP_RANGE => elementary::exp(*a),
                    ("exp", [a]) => a.exp(),
                    ("tanh", [a]) => elementary::tanh(*a),
                    ("sqrt", [a]) => a.sqrt(),
                    ("abs", [a]) => a.abs(),
                    ("floor", [a]) => a.floor(),
                    ("atan2", [a, b]) => a.atan2(*b),
                    ("hypot", [a, b]) => a.hypot(*b),
                    _ => unreachable!("{name}"),
                }
            }
        }
    }

    fn is_constant(&self) -> bool {
        match self {
            Tree::Number(_) => true,
            Tree::X | Tree::Y => false,
            Tree::Negate(a) | Tree::Power(a, _) => a.is_constant(),
            Tree::Infix(_, a, b) => a.is_constant() && b.is_constant(),
            Tree::Call(_, arguments) => arguments.iter().all(Tree::is_constant),
        }
    }

    /// How strongly the outermost operator binds.
    fn level(&self) -> u8 {
        match self {
            Tree::Infix('+' | '-', ..) => 1,
            Tree::Infix(..) => 2,
            Tree::Negate(_) => 3,
            Tree::Power(..) => 4,
            Tree::Number(_) | Tree::X | Tree::Y | Tree::Call(..) => 5,
        }
    }

    /// The text, in parentheses only where the grammar needs them.
    fn text(&self, least: u8) -> String {
        let text = match self {
            Tree::Number(value) => format!("{value:?}"),
            Tree::X => "x".into(),
            Tree::Y => "y".into(),
            Tree::Negate(a) => format!("-{}", a.text(3)),
            Tree::Infix(operator, a, b) => format!("{} {operator}{}", a.text(self.level()), b.text(self.level() + 1)),
            Tree::Power(a, n) => format!("{}^{n}", a.text(5)),
            Tree::Call(name, arguments) => {
                format!("{name}({})", arguments.iter().map(|a| a.text(0)).collect::<Vec<_>>().join(", "))
            }
        };
        if self.level() < least { format!("({text})") } else { text }
    }
}

fn leaf() -> impl Strategy<Value = Tree> {
    prop_oneof![
        Just(Tree::X),
        Just(Tree::Y),
        (0.0..4.0f64).prop_map(Tree::Number),
        prop::sample::select(vec![0.0, 1.0, 2.0, 1e-9, 2.5e20]).prop_map(Tree::Number),
    ]
}

fn any_tree() -> impl Strategy<Value = Tree> {
    leaf().prop_recursive(6, 60, 2, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let unary = prop::sample::select(vec!["sin", "exp", "tanh", "sqrt", "abs", "floor"]);
        let binary = prop::sample::select(vec!["atan2", "hypot"]);
        let exponent = prop::sample::select(vec![-5, -4, -3, -2, -1, 1, 2, 3, 4, 5]);
        prop_oneof![
            2 => boxed.clone().prop_map(Tree::Negate),
            8 => (prop::sample::select(vec!['+', '-', '*', '/']), boxed.clone(), boxed.clone())
                .prop_map(|(operator, a, b)| Tree::Infix(operator, a, b)),
            3 => (boxed, exponent).prop_map(|(a, n)| Tree::Power(a, n)),
            3 => (unary, inner.clone()).prop_map(|(name, a)| Tree::Call(name, vec![a])),
            1 => (binary, inner.clone(), inner).prop_map(|(name, a, b)| Tree::Call(name, vec![a, b])),
        ]
    })
}

/// Trees whose derivatives are smooth and of moderate size on \[-1, 1\]^2.
fn smooth_tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![Just(Tree::X), Just(Tree::Y), (0.2..1.5f64).prop_map(Tree::Number)];
    leaf.prop_recursive(3, 16, 2, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed.clone().prop_map(Tree::Negate),
            (prop::sample::select(vec!['+', '-', '*']), boxed.clone(), boxed.clone())
                .prop_map(|(operator, a, b)| Tree::Infix(operator, a, b)),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| {
                // a / (2 + b^2)
                let positive = Tree::Infix('+', Box::new(Tree::Number(2.0)), Box::new(Tree::Power(b, 2)));
                Tree::Infix('/', a, Box::new(positive))
            }),
            (boxed, 1..4i32).prop_map(|(a, n)| Tree::Power(a, n)),
            (prop::sample::select(vec!["sin", "tanh"]), inner).prop_map(|(name, a)| Tree::Call(name, vec![a])),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn formulas_have_the_value_of_their_tree(tree in any_tree(), x in -3.0..3.0f64, y in -3.0..3.0f64) {
        let text = tree.text(0);
        let (found, expected) = (value(&parsed(&text), x, y), tree.value(x, y));
        let equal = found == expected || (found.is_nan() && expected.is_nan());
        prop_assert!(equal, "{}: {:?}, not {:?}", text, found, expected);
    }

    #[test]
    fn gradients_are_those_of_the_values(tree in smooth_tree(), x in -1.0..1.0f64, y in -1.0..1.0f64) {
        let formula = parsed(&tree.text(0));
        // Central differences of fourth order.
        const H: f64 = 1e-3;
        let slope = |f: &dyn Fn(f64) -> f64| (8.0 * (f(H) - f(-H)) - (f(2.0 * H) - f(-2.0 * H))) / (12.0 * H);
        let expected = [slope(&|h| value(&formula, x + h, y)), slope(&|h| value(&formula, x, y + h))];
        for (found, expected) in gradient(&formula, x, y).into_iter().zip(expected) {
            let close = (found - expected).abs() < 1e-6 * (1.0 + expected.abs());
            prop_assert!(close, "{:?}: {} not {}", formula, found, expected);
        }
    }
    #[test]
    fn jets_are_those_of_the_values(tree in smooth_tree(), at in prop::array::uniform5(-0.8..0.8f64)) {
        // Smooth trees have no other x and y than the variables.
        let text: String = tree.text(0).chars().map(|c| match c {
            'x' => "(x + u*ux)".into(),
            'y' => "(y*uy - u)".into(),
            c => c.to_string(),
        }).collect();
        let formula = Formula::parse_in(&text, &all_names()).unwrap();
        let worst = jets_mismatch(&formula, at);
        prop_assert!(worst < 1e-6, "{}: {:e}", text, worst);
    }
}
