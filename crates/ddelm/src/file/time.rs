//! `[time]`: from when to when, the initial values, and how many steps.

use super::section::{Fields, Section, list, number};
use crate::base::error::{Error, Result};
use crate::solve::time::{Steps, Terms, Time};

pub(super) const TIME: &[&str] = &["start", "end", "initial", "steps", "tolerance", "method", "times", "nonlinear"];

/// Formulas by their names.
const METHODS: [(&str, usize); 4] = [("bdf1", 1), ("bdf2", 2), ("bdf3", 3), ("bdf4", 4)];

/// When terms that depend on u are taken.
const TERMS: [(&str, Terms); 2] = [("auto", Terms::Auto), ("implicit", Terms::Implicit)];

/// Methods for the wave equation, which are refused with a reason.
const WAVES: [&str; 4] = ["wave", "newmark", "leapfrog", "verlet"];

/// Reads the table, if it is there.
pub(super) fn time(root: &Section, fields: &Fields) -> Result<Option<Time>> {
    let section = root.section("time", TIME)?;
    if !section.is_given() {
        return Ok(None);
    }
    if let Some(method) = section.text("method")?.filter(|method| WAVES.contains(method)) {
        let problem = "the wave equation is not offered: the discrete operator is not self-adjoint, and methods that keep the \
                       energy amplify the difference";
        return Err(Error::input(
            section.key("method"),
            format!("\"{method}\""),
            problem,
            "bdf1 to bdf4 are for u_t = -L u + f",
        ));
    }
    let end = section.number("end")?.ok_or_else(|| section.missing("end", "for example end = 1.0"))?;
    let initial = section.field("initial", fields)?;
    let steps = match (section.whole("steps")?, section.number("tolerance")?) {
        (Some(steps), None) => Steps::Count(steps),
        (None, Some(tolerance)) => Steps::Tolerance(tolerance),
        (Some(steps), Some(_)) => {
            let problem = "a tolerance chooses the steps";
            return Err(Error::input(section.key("steps"), steps, problem, "give steps or tolerance"));
        }
        (None, None) => return Err(section.missing("steps", "for example steps = 100, or tolerance = 1e-6")),
    };
    let times = section.get("times").map(|value| list(&section.key("times"), value, "[0.25, 0.5]", number));
    let mut times = times.transpose()?.unwrap_or_default();
    times.sort_by(f64::total_cmp);
    times.dedup();
    Ok(Some(Time {
        start: section.number("start")?.unwrap_or(0.0),
        end,
        initial: initial.ok_or_else(|| section.missing("initial", "u at the start, for example initial = \"0\""))?,
        steps,
        order: section.choice("method", &METHODS)?.unwrap_or(4),
        times,
        nonlinear: section.choice("nonlinear", &TERMS)?.unwrap_or_default(),
    }))
}
