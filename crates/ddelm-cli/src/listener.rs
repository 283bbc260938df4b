//! Progress by stage: a bar where somebody watches, a line now and then where not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ddelm::base::progress::{Progress, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Common;
use crate::diagnostic::Terminal;
use crate::interrupt;
use crate::stderr::say;

/// Shorter computations pass without a line.
const PATIENCE: Duration = Duration::from_secs(2);

/// Steps of the bar that shows how far conjugate gradients have come.
const RESIDUAL_STEPS: f64 = 100.0;

/// Shows progress, and stops the computation on Ctrl-C.
pub struct Listener {
    bar: ProgressBar,
    lines: bool,
    start: Instant,
    last_line: Mutex<Instant>,
    iterations: AtomicUsize,
}

impl Listener {
    /// A listener for this terminal.
    pub fn new(common: &Common, terminal: &Terminal) -> Self {
        let bar = ProgressBar::with_draw_target(
            None,
            match terminal.interactive && !common.quiet {
                true => ProgressDrawTarget::stderr_with_hz(10),
                false => ProgressDrawTarget::hidden(),
            },
        );
        if let Ok(style) = ProgressStyle::with_template("{msg:<10} {wide_bar} {pos}/{len} {elapsed}") {
            bar.set_style(style.progress_chars("=> "));
        }
        interrupt::polled(true);
        let now = Instant::now();
        Listener {
            bar,
            lines: !terminal.interactive && !common.quiet,
            start: now,
            last_line: Mutex::new(now),
            iterations: AtomicUsize::new(0),
        }
    }

    /// Removes the bar. Whatever follows does not ask whether to stop.
    pub fn finish(&self) {
        interrupt::polled(false);
        self.bar.finish_and_clear();
    }

    fn line(&self, text: impl FnOnce() -> String) {
        let mut last = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if self.lines && last.elapsed() > PATIENCE {
            *last = Instant::now();
            say(format!("{:6.1} s  {}", self.start.elapsed().as_secs_f64(), text()));
        }
    }
}

impl Progress for Listener {
    fn begin(&self, stage: Stage, steps: usize) {
        tracing::debug!(steps, "{}", stage.name());
        self.bar.set_length(steps as u64);
        self.bar.set_position(0);
        self.bar.set_message(stage.name());
        self.line(|| stage.name().into());
    }

    fn step(&self) {
        self.bar.inc(1);
        self.line(|| format!("{} {} of {}", self.bar.message(), self.bar.position(), self.bar.length().unwrap_or(0)));
    }

    fn residual(&self, iteration: usize, residual: f64, goal: f64) {
        if iteration / 1000 > self.iterations.swap(iteration, Ordering::Relaxed) / 1000 {
            tracing::debug!(iteration, residual);
        }
        let done = (residual.ln() / goal.ln()).clamp(0.0, 1.0);
        self.bar.set_length(RESIDUAL_STEPS as u64);
        self.bar.set_position((RESIDUAL_STEPS * done) as u64);
        self.line(|| format!("iteration {iteration}, residual {residual:.1e} (goal {goal:.0e})"));
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}
