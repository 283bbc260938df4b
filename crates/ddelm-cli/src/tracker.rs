//! Progress over many runs: a bar with the run, its stage and the time left; a line for every finished run.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ddelm::base::progress::{Progress, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Common;
use crate::diagnostic::Terminal;
use crate::interrupt;
use crate::stderr::say;
use ddelm::base::number::{rough_seconds, seconds};

/// Positions of the bar.
const LENGTH: f64 = 1000.0;

/// Follows the runs, and stops them on Ctrl-C or when they take too long.
pub struct Tracker {
    bar: ProgressBar,
    quiet: bool,
    state: Mutex<State>,
}

/// Where the runs are; times in seconds.
struct State {
    /// Estimated time of all runs.
    total: f64,
    /// Estimated time of the finished ones.
    done: f64,
    /// Time that the finished ones took.
    took: f64,
    /// Estimated time of the current one.
    estimate: f64,
    /// When the current one began.
    began: Instant,
    /// When the current one must end.
    deadline: Option<Instant>,
}

impl Tracker {
    /// A tracker of runs.
    pub fn new(common: &Common, terminal: &Terminal) -> Self {
        let target = match terminal.interactive && !common.quiet {
            true => ProgressDrawTarget::stderr_with_hz(5),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(LENGTH as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix:<28} {wide_bar} {percent:>3} %  {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        let state = State { total: 0.0, done: 0.0, took: 0.0, estimate: 0.0, began: Instant::now(), deadline: None };
        interrupt::polled(true);
        Tracker { bar, quiet: common.quiet, state: Mutex::new(state) }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, stage: &str) {
        let state = self.state();
        let elapsed = state.began.elapsed().as_secs_f64();
        self.bar.set_position((LENGTH * state.fraction(elapsed)) as u64);
        let left = format!("about {} left", rough_seconds(state.left(elapsed)));
        self.bar.set_message(if stage.is_empty() { left } else { format!("{stage}; {left}") });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How slow the machine is, compared with the estimates.
    fn pace(&self) -> f64 {
        if self.done > 0.0 { (self.took / self.done).clamp(0.1, 10.0) } else { 1.0 }
    }

    /// Share of the work that is done.
    fn fraction(&self, elapsed: f64) -> f64 {
        let current = (elapsed / self.pace()).min(0.95 * self.estimate);
        ((self.done + current) / self.total.max(f64::MIN_POSITIVE)).min(1.0)
    }

    /// Seconds left.
    fn left(&self, elapsed: f64) -> f64 {
        let current = (self.pace() * self.estimate - elapsed).max(0.0);
        current + self.pace() * (self.total - self.done - self.estimate).max(0.0)
    }
}

impl ddelm_paper::Tracker for Tracker {
    fn expect(&self, total: f64) {
        self.state().total = total;
    }

    fn run_begins(&self, name: &str, estimate: f64, limit: Option<f64>) {
        let mut state = self.state();
        state.estimate = estimate;
        state.began = Instant::now();
        state.deadline = limit.map(|limit| state.began + Duration::from_secs_f64(limit));
        drop(state);
        self.bar.set_prefix(name.to_owned());
        self.show("");
    }

    fn run_ends(&self, line: &str) {
        let mut state = self.state();
        let (took, estimate) = (state.began.elapsed().as_secs_f64(), state.estimate);
        state.took += took;
        state.done += estimate;
        state.estimate = 0.0;
        state.deadline = None;
        drop(state);
        self.say(&format!("{line}  ({})", seconds(took)));
        self.show("");
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            self.bar.suspend(|| say(line));
        }
    }

    fn stopped(&self) -> bool {
        interrupt::asked()
    }
}

impl Progress for Tracker {
    fn begin(&self, stage: Stage, _steps: usize) {
        self.show(stage.name());
    }

    fn residual(&self, iteration: usize, residual: f64, _goal: f64) {
        if iteration.is_multiple_of(256) {
            self.show(&format!("iteration {iteration}, residual {residual:.0e}"));
        }
    }

    fn interrupted(&self) -> bool {
        interrupt::asked() || self.state().deadline.is_some_and(|deadline| Instant::now() > deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_pace_so_far() {
        let mut state =
            State { total: 100.0, done: 0.0, took: 0.0, estimate: 20.0, began: Instant::now(), deadline: None };
        assert_eq!(state.left(5.0), 95.0);
        (state.done, state.took, state.estimate) = (50.0, 100.0, 10.0);
        assert_eq!(state.left(0.0), 100.0);
        assert!((state.fraction(10.0) - 0.55).abs() < 1e-12);
    }
}
