//! Whether the functions of a problem are finite where they will be needed, without solving it.

use crate::base::error::Result;
use crate::domain::collocation::collocations;
use crate::domain::decomposition::part_name;
use crate::domain::sample::Sample;
use crate::problem::field::FieldRef;
use crate::problem::model::Problem;
use crate::solve::case::Case;

/// Intervals along each side of a subdomain at whose ends boundary values are tried.
const ALONG: usize = 16;

impl Case {
    /// Evaluates every function at the nodes, and says which one is not finite and where.
    pub fn probe(&self) -> Result<()> {
        let decomposition = self.decomposition()?;
        let Problem { equation, source, exact, conditions, .. } =
            &self.time.as_ref().map_or_else(|| self.problem.clone(), |time| self.problem.at_time(time.start));
        let collocations = collocations(&decomposition, self.settings.nodes(), self.settings.points, equation.pairs())?;
        let mut interior = equation.fields();
        // What depends on u has no values yet.
        interior.extend(Some((equation.source_key(), source)).filter(|(_, source)| !source.depends_on().state));
        interior.extend(self.time.iter().map(|time| ("time.initial", &time.initial)));
        interior.extend(exact.iter().map(|u| ("exact.u", u)));
        // What depends on the solution cannot be evaluated without one.
        let known = |field: &FieldRef| !field.depends_on().state;
        interior.retain(|(_, field)| known(field));
        for (s, subdomain) in decomposition.subdomains.iter().enumerate() {
            let shape = subdomain.map.shape();
            let nodes = Sample::new(subdomain, collocations.of(shape).interior.iter().copied());
            for (key, field) in &interior {
                nodes.values(field.as_ref(), key, s)?;
            }
            for (side, part) in subdomain.boundaries() {
                let nodes = Sample::new(subdomain, (1..ALONG).map(|k| shape.side_point(side, k as f64 / ALONG as f64)));
                let condition = &conditions[part];
                for field in condition.values.iter().chain(condition.multiple()).filter(|field| known(field)) {
                    nodes.values(field.as_ref(), &part_name(&decomposition, part), s)?;
                }
            }
        }
        Ok(())
    }
}
