#![allow(missing_docs)]
use ddelm::decomposition::Decomposition;
use ddelm::field::*;
use ddelm::map::*;
use ddelm::problem::*;
use ddelm::settings::*;
use ddelm::solver::Solver;
use std::f64::consts::PI;
use std::sync::Arc;

fn run(name: &str, p: &Problem, d: Decomposition, s: &Settings) {
    let t = std::time::Instant::now();
    match Solver::new(p, Arc::new(d), s).and_then(|s| s.solve()) {
        Ok(sol) => {
            let r = &sol.report;
            let wall = t.elapsed().as_secs_f64();
            let e = p.exact.as_ref().map(|e| sol.errors(e.as_ref(), 2 * s.points).unwrap());
            let e = e.map(|e| {
                format!(
                    "l2 {:.1e} h1 {:.1e} max {:.1e} rms {:.1e}",
                    e.l2,
                    e.h1.unwrap_or(f64::NAN),
                    e.max,
                    e.interface_rms.unwrap_or(0.0)
                )
            });
            println!(
                "{name}: {} rank {}-{}/{} it {} ref {} corr {:.1e} res {:.1e} | asm {:.4} fac {:.4} int {:.4} rec {:.4} tot {:.4} wall {:.4} {:?}",
                e.unwrap_or_default(),
                r.features.rank.min,
                r.features.rank.max,
                r.features.rows,
                r.interface.iterations,
                r.interface.refinements,
                r.interface.last_correction.unwrap_or(0.0),
                r.residual,
                r.seconds.assemble,
                r.seconds.factor,
                r.seconds.interface,
                r.seconds.recover,
                r.seconds.total,
                wall,
                r.warnings
            );
        }
        Err(e) => println!("{name}: ERROR {e}"),
    }
}
fn dirichlet4(g: FieldRef) -> Vec<Condition> {
    (0..4).map(|_| Condition::dirichlet(g.clone())).collect()
}
fn main() {
    let exact = function_with_gradient(
        |x, y| (2.0 * PI * x).sin() * y.exp(),
        |x, y| [2.0 * PI * (2.0 * PI * x).cos() * y.exp(), (2.0 * PI * x).sin() * y.exp()],
    );
    let p1 = Problem {
        equation: Equation::poisson(),
        source: function(|x, y| (4.0 * PI * PI - 1.0) * (2.0 * PI * x).sin() * y.exp()),
        conditions: dirichlet4(exact.clone()),
        exact: Some(exact.clone()),
    };
    let which = std::env::args().nth(1).unwrap_or_default();
    let unit = |n: usize, m: usize| Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [n, m]).unwrap();
    let fast = Settings::fast();
    if which.is_empty() || which == "p1" {
        for n in [4, 8, 16] {
            run(&format!("P1 {n}"), &p1, unit(n, n), &fast);
        }
        run("P1 5x3", &p1, Decomposition::rectangle([-1.0, 2.0], [0.0, 1.0], [5, 3]).unwrap(), &fast);
        let mut i = fast.clone();
        i.sharing = Sharing::Independent;
        run("P1 4 indep", &p1, unit(4, 4), &i);
        i.truncation = Truncation::Svd;
        run("P1 4 indep svd", &p1, unit(4, 4), &i);
        let mut i = fast.clone();
        i.truncation = Truncation::Svd;
        run("P1 4 svd", &p1, unit(4, 4), &i);
    }
    if which.is_empty() || which == "freq" {
        for (k, l, n, pts) in [(8.0, 8.0, 6, 20), (9.0, 7.0, 4, 28)] {
            let e = function_with_gradient(
                move |x, y| (k * PI * x).sin() * (l * PI * y).sin(),
                move |x, y| {
                    [k * PI * (k * PI * x).cos() * (l * PI * y).sin(), l * PI * (k * PI * x).sin() * (l * PI * y).cos()]
                },
            );
            let p = Problem {
                equation: Equation::poisson(),
                source: function(move |x, y| PI * PI * (k * k + l * l) * (k * PI * x).sin() * (l * PI * y).sin()),
                conditions: dirichlet4(constant(0.0)),
                exact: Some(e),
            };
            let mut s = fast.clone();
            s.points = pts;
            run(&format!("sin {k} {l}"), &p, unit(n, n), &s);
        }
    }
    if which.is_empty() || which == "plate" {
        let e = function_with_gradient(
            |x, y| (PI * x).sin() * (PI * y).sin(),
            |x, y| [PI * (PI * x).cos() * (PI * y).sin(), PI * (PI * x).sin() * (PI * y).cos()],
        );
        let f = function(|x, y| 4.0 * PI.powi(4) * (PI * x).sin() * (PI * y).sin());
        let z = constant(0.0);
        let ss = Problem {
            equation: Equation::Plate { rigidity: constant(1.0) },
            source: f,
            conditions: (0..4).map(|_| Condition::simply_supported(z.clone(), z.clone())).collect(),
            exact: Some(e),
        };
        // clamped manufactured: u = sin(2x+1)e^y
        let g = function_with_gradient(
            |x: f64, y: f64| (2.0 * x + 1.0).sin() * y.exp(),
            |x, y| [2.0 * (2.0 * x + 1.0).cos() * y.exp(), (2.0 * x + 1.0).sin() * y.exp()],
        );
        let ux = function(|x: f64, y: f64| 2.0 * (2.0 * x + 1.0).cos() * y.exp());
        let mux = function(|x: f64, y: f64| -2.0 * (2.0 * x + 1.0).cos() * y.exp());
        let uy = function(|x: f64, y: f64| (2.0 * x + 1.0).sin() * y.exp());
        let muy = function(|x: f64, y: f64| -(2.0 * x + 1.0).sin() * y.exp());
        let cl = Problem {
            equation: Equation::Plate { rigidity: constant(1.0) },
            source: function(|x: f64, y: f64| 9.0 * (2.0 * x + 1.0).sin() * y.exp()),
            conditions: vec![
                Condition::clamped(g.clone(), mux),
                Condition::clamped(g.clone(), ux),
                Condition::clamped(g.clone(), muy),
                Condition::clamped(g.clone(), uy),
            ],
            exact: Some(g),
        };
        if std::env::args().nth(2).is_some() {
            for c in [0.05, 0.06, 0.07, 0.085] {
                for cut in [1e-14, 1e-15] {
                    let mut cells = vec![];
                    let mut rank = 0;
                    for (p, n) in [(&ss, 4), (&ss, 10), (&cl, 4), (&cl, 10)] {
                        let mut worst = 0.0f64;
                        let mut mean = 0.0f64;
                        for seed in 0..4 {
                            let mut s = fast.clone();
                            s.c = Some(c);
                            s.cut = Some(cut);
                            s.seed = seed;
                            let sol = Solver::new(p, Arc::new(unit(n, n)), &s).and_then(|s| s.solve()).unwrap();
                            let e = sol.errors(p.exact.as_ref().unwrap().as_ref(), 24).unwrap().l2;
                            worst = worst.max(e);
                            mean += e.ln() / 4.0;
                            rank = sol.report.features.rank.max;
                        }
                        cells.push(format!("{:.1e}/{:.1e}", mean.exp(), worst));
                    }
                    println!("c {c} cut {cut:e} rank {rank} {}", cells.join("  "));
                }
            }
            return;
        }
        for n in [4, 8, 16] {
            run(&format!("plate ss {n}"), &ss, unit(n, n), &fast);
        }
        for n in [4, 8, 16] {
            run(&format!("plate cl {n}"), &cl, unit(n, n), &fast);
        }
    }
    if which.is_empty() || which == "misc" {
        let k = 20.0f64;
        let (a, b) = (k * 0.6, k * 0.8);
        let e = function_with_gradient(
            move |x, y| (a * x + b * y).cos(),
            move |x, y| [-a * (a * x + b * y).sin(), -b * (a * x + b * y).sin()],
        );
        let p = Problem {
            equation: Equation::SecondOrder {
                diffusion: Diffusion::Scalar(constant(1.0)),
                advection: None,
                reaction: Some(constant(-k * k)),
            },
            source: constant(0.0),
            conditions: dirichlet4(e.clone()),
            exact: Some(e),
        };
        run("helmholtz 8", &p, unit(8, 8), &fast);
        // advection-diffusion, eps = .01, b = (1, 0.5): u = sin(2 pi x) e^y
        let p = Problem {
            equation: Equation::SecondOrder {
                diffusion: Diffusion::Scalar(constant(0.01)),
                advection: Some([constant(1.0), constant(0.5)]),
                reaction: None,
            },
            source: function(|x, y| {
                0.01 * (4.0 * PI * PI - 1.0) * (2.0 * PI * x).sin() * y.exp()
                    + 2.0 * PI * (2.0 * PI * x).cos() * y.exp()
                    + 0.5 * (2.0 * PI * x).sin() * y.exp()
            }),
            conditions: dirichlet4(exact.clone()),
            exact: Some(exact.clone()),
        };
        run("advection 8", &p, unit(8, 8), &fast);
        // tensor: a = [[2+sin x, .3xy],[.3xy, 1.5+cos y]], u = sin(2x)e^y ; robin left k=1+y, neumann top
        let u = |x: f64, y: f64| (2.0 * x).sin() * y.exp();
        let e = function_with_gradient(u, |x, y| [2.0 * (2.0 * x).cos() * y.exp(), (2.0 * x).sin() * y.exp()]);
        let t = Diffusion::Tensor([
            [
                function_with_gradient(|x, _| 2.0 + x.sin(), |x, _| [x.cos(), 0.0]),
                function_with_gradient(|x, y| 0.3 * x * y, |x, y| [0.3 * y, 0.3 * x]),
            ],
            [
                function_with_gradient(|x, y| 0.3 * x * y, |x, y| [0.3 * y, 0.3 * x]),
                function_with_gradient(|_, y| 1.5 + y.cos(), |_, y| [0.0, -y.sin()]),
            ],
        ]);
        let f = function(|x: f64, y: f64| {
            let (ux, uy, uxx, uyy, uxy) = (
                2.0 * (2.0 * x).cos() * y.exp(),
                (2.0 * x).sin() * y.exp(),
                -4.0 * (2.0 * x).sin() * y.exp(),
                (2.0 * x).sin() * y.exp(),
                2.0 * (2.0 * x).cos() * y.exp(),
            );
            -((2.0 + x.sin()) * uxx
                + 0.6 * x * y * uxy
                + (1.5 + y.cos()) * uyy
                + (x.cos() + 0.3 * x) * ux
                + (0.3 * y - y.sin()) * uy)
        });
        let left = Condition::robin(
            function(|_, y| 1.0 + y),
            function(move |x: f64, y: f64| {
                let (ux, uy) = (2.0 * (2.0 * x).cos() * y.exp(), (2.0 * x).sin() * y.exp());
                -((2.0 + x.sin()) * ux + 0.3 * x * y * uy) + (1.0 + y) * u(x, y)
            }),
        );
        let top = Condition::neumann(function(move |x: f64, y: f64| {
            let (ux, uy) = (2.0 * (2.0 * x).cos() * y.exp(), (2.0 * x).sin() * y.exp());
            0.3 * x * y * ux + (1.5 + y.cos()) * uy
        }));
        let p = Problem {
            equation: Equation::SecondOrder { diffusion: t, advection: None, reaction: None },
            source: f,
            conditions: vec![left, Condition::dirichlet(e.clone()), Condition::dirichlet(e.clone()), top],
            exact: Some(e),
        };
        run("tensor robin 6x4", &p, unit(6, 4), &fast);
        // annulus
        let e = function_with_gradient(
            |x, y| (3.0 * x).sin() * y.exp(),
            |x, y| [3.0 * (3.0 * x).cos() * y.exp(), (3.0 * x).sin() * y.exp()],
        );
        let mut maps: Vec<MapRef> = vec![];
        for i in 0..4 {
            for j in 0..4 {
                maps.push(Arc::new(Polar {
                    centre: [0.0; 2],
                    radius: [1.0 + i as f64 / 4.0, 1.0 + (i + 1) as f64 / 4.0],
                    angle: [j as f64 * PI / 8.0, (j + 1) as f64 * PI / 8.0],
                }));
            }
        }
        let p = Problem {
            equation: Equation::poisson(),
            source: function(|x, y| 8.0 * (3.0 * x).sin() * y.exp()),
            conditions: vec![Condition::dirichlet(e.clone())],
            exact: Some(e),
        };
        for n in [12, 16, 20] {
            let mut s = fast.clone();
            s.points = n;
            run(&format!("annulus {n}"), &p, Decomposition::from_maps(maps.clone(), 1, |_| 0).unwrap(), &s);
        }
    }
    if which == "sweep" {
        let wide = || Decomposition::rectangle([-1.0, 2.0], [0.0, 1.0], [5, 3]).unwrap();
        let sine = |k: f64| {
            let l = k;
            let e = function(move |x, y| (k * PI * x).sin() * (l * PI * y).sin());
            Problem {
                equation: Equation::poisson(),
                source: function(move |x, y| PI * PI * (k * k + l * l) * (k * PI * x).sin() * (l * PI * y).sin()),
                conditions: dirichlet4(constant(0.0)),
                exact: Some(e),
            }
        };
        let (p8, p16) = (sine(8.0), sine(16.0));
        let points: usize = std::env::var("POINTS").ok().and_then(|v| v.parse().ok()).unwrap_or(16);
        let args: Vec<f64> = std::env::args().skip(2).map(|v| v.parse().unwrap()).collect();
        for init in [ddelm::features::Initialization::Weighted] {
            for radius in [1.0] {
                for cut in [1e-15] {
                    for tr in [Truncation::Qr] {
                        for &scale in &args {
                            let mut cells = vec![];
                            let mut rank = 0;
                            for (p, kind) in [(&p1, 0), (&p1, 1), (&p8, 2), (&p16, 2)] {
                                let mut worst = 0.0f64;
                                let mut mean = 0.0f64;
                                for seed in 0..4 {
                                    let mut s = fast.clone();
                                    s.scale = Some(scale);
                                    s.seed = seed;
                                    s.initialization = init;
                                    s.radius = radius;
                                    s.points = points;
                                    s.truncation = tr;
                                    s.cut = Some(cut);
                                    let d = match kind {
                                        0 => wide(),
                                        1 => unit(4, 4),
                                        _ => unit(6, 6),
                                    };
                                    let sol = Solver::new(p, Arc::new(d), &s).and_then(|s| s.solve()).unwrap();
                                    let e = sol.errors(p.exact.as_ref().unwrap().as_ref(), 24).unwrap().l2;
                                    worst = worst.max(e);
                                    mean += e.ln() / 4.0;
                                    rank = sol.report.features.rank.max;
                                }
                                cells.push(format!("{:.1e}/{:.1e}", mean.exp(), worst));
                            }
                            println!(
                                "{init:?} r {radius} cut {cut:e} {tr:?} scale {scale} rank {rank}: {}",
                                cells.join("  ")
                            );
                        }
                    }
                }
            }
        }
    }
    if which == "small" {
        let wide = || Decomposition::rectangle([-1.0, 2.0], [0.0, 1.0], [5, 3]).unwrap();
        let k = 8.0;
        let e = function(move |x, y| (k * PI * x).sin() * (k * PI * y).sin());
        let p8 = Problem {
            equation: Equation::poisson(),
            source: function(move |x, y| PI * PI * (k * k + k * k) * (k * PI * x).sin() * (k * PI * y).sin()),
            conditions: dirichlet4(constant(0.0)),
            exact: Some(e),
        };
        for points in [6, 7, 8, 9, 10, 11, 12, 13, 14, 16] {
            let mut cells = vec![];
            let mut rank = (0, 0);
            for (p, kind) in [(&p1, 0), (&p1, 1), (&p8, 2)] {
                let mut worst = 0.0f64;
                let mut mean = 0.0f64;
                for seed in 0..10 {
                    let mut s = fast.clone();
                    s.seed = seed;
                    s.points = points;
                    let d = match kind {
                        0 => wide(),
                        1 => unit(4, 4),
                        _ => unit(6, 6),
                    };
                    let sol = Solver::new(p, Arc::new(d), &s).and_then(|s| s.solve()).unwrap();
                    let e = sol.errors(p.exact.as_ref().unwrap().as_ref(), 24).unwrap().l2;
                    worst = worst.max(e);
                    mean += e.ln() / 10.0;
                    rank = (sol.report.features.rank.max, sol.report.features.rows);
                }
                cells.push(format!("{:.1e}/{:.1e}", mean.exp(), worst));
            }
            println!("points {points} rank {rank:?}: {}", cells.join("  "));
        }
    }
    if which == "paper" {
        let mut s = Settings::paper();
        for (n, pts) in [(16, 16), (8, 32)] {
            s.points = pts;
            s.interface = InterfaceSolver::Direct;
            s.refinements = 0;
            run(&format!("paper direct {n}"), &p1, unit(n, n), &s);
            s.interface = InterfaceSolver::Cg;
            run(&format!("paper cg {n}"), &p1, unit(n, n), &s);
        }
    }
}
