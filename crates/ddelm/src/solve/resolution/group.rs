//! The samples of fields that belong together, and whether what lies between the nodes is too much.

use super::{Unresolved, Unseen};
use crate::domain::map::Point;
use crate::solution::tails::Tail;

/// Mismatches beyond which a field is called unresolved: of the diffusion, and of everything else.
const SERIOUS: [f64; 2] = [0.05, 0.1];

/// What a field is in the problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Diffusion,
    /// Advection or reaction, with what stands beside it: the size of the diffusion in the same units.
    LowerOrder(f64),
    Source,
    Coefficient,
    Boundary,
}

impl Kind {
    /// Whether a piece may be found to be unresolved beside the whole field, which is at least as large.
    pub fn may_be_unresolved(self, piece: &Piece, share: f64) -> bool {
        match self {
            Kind::Diffusion => piece.worst > SERIOUS[0],
            _ => piece.worst > SERIOUS[1] * piece.size || piece.missing.abs() > share * piece.integral,
        }
    }
}

/// The samples of the fields that belong together: the entries of a tensor, the values on the whole boundary.
pub(super) struct Group {
    pub kind: Kind,
    /// The largest value.
    pub size: f64,
    pub pieces: Vec<Piece>,
}

/// One field in one subdomain.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub key: String,
    pub subdomain: usize,
    /// What the nodes tell of the field in each direction; nothing where its mismatch is small.
    pub tails: [Tail; 2],
    /// Area, or length.
    pub measure: f64,
    /// Largest value.
    pub size: f64,
    /// Integral of the field's size, and of the difference to the interpolant; that of a source counts by its [`reach`].
    pub integral: f64,
    pub missing: f64,
    /// The largest difference (of the diffusion, relative), where it is, and the two values.
    pub worst: f64,
    pub point: Point,
    pub value: f64,
    pub expected: f64,
}

impl Group {
    pub fn new(kind: Kind, pieces: Vec<Piece>) -> Self {
        Group { kind, size: pieces.iter().map(|p| p.size).fold(0.0, f64::max), pieces }
    }

    /// What differences are measured by, and the relative one that is too large.
    fn limits(&self, floor: f64) -> (f64, f64) {
        match self.kind {
            Kind::Diffusion => (1.0, SERIOUS[0]),
            Kind::LowerOrder(beside) => (self.size.max(beside), SERIOUS[1]),
            Kind::Source | Kind::Boundary | Kind::Coefficient => (self.size.max(floor), SERIOUS[1]),
        }
    }

    /// Where differences are too large, or the part of the field that is missed.
    pub fn affected(&self, floor: f64, share: f64) -> Vec<Unresolved> {
        let (relative, limit) = self.limits(floor);
        let all = self.whole(floor);
        let weight = |p: &Piece| if self.kind == Kind::Diffusion { 1.0 } else { p.missing.abs() / all };
        let place = |p: &Piece| {
            let serious = relative > 0.0 && p.worst / relative > limit;
            // What cancels to next to nothing, as the terms of the Laplacian of a harmonic function, is rounding, and has no tails to follow.
            let rounding = self.kind == Kind::Source && p.size <= floor;
            let missed = self.kind != Kind::Diffusion && !rounding && weight(p) > share;
            let place = Unresolved { subdomain: p.subdomain, tails: p.tails, size: p.size, weight: weight(p), serious };
            (serious || missed).then_some(place)
        };
        self.pieces.iter().filter_map(place).collect()
    }

    /// The integral of the field's size over everything, or of what stands beside it.
    fn whole(&self, floor: f64) -> f64 {
        let beside = if let Kind::LowerOrder(beside) = self.kind { beside } else { floor };
        let sum = |f: fn(&Piece) -> f64| self.pieces.iter().map(f).sum::<f64>();
        sum(|p| p.integral).max(beside * sum(|p| p.measure))
    }

    pub fn summary(&self, floor: f64) -> Option<Unseen> {
        let (relative, limit) = self.limits(floor);
        let mismatch = |p: &Piece| if relative > 0.0 { p.worst / relative } else { 0.0 };
        let worst = self.pieces.iter().max_by(|a, b| a.worst.total_cmp(&b.worst))?;
        let measure: f64 = self.pieces.iter().map(|p| p.measure).sum();
        let affected: Vec<&Piece> = self.pieces.iter().filter(|p| mismatch(p) > limit).collect();
        let share = match self.kind {
            // What a jump in one place does to the flux it does everywhere that the flux goes.
            Kind::Diffusion => {
                mismatch(worst).min(1.0) * (affected.iter().map(|p| p.measure).sum::<f64>() / measure).sqrt()
            }
            _ => {
                let all = self.whole(floor);
                let missing: f64 = self.pieces.iter().map(|p| p.missing.abs()).sum();
                if all > 0.0 { (missing / all).min(1.0) } else { 0.0 }
            }
        };
        let mut subdomains: Vec<usize> = affected.iter().map(|p| p.subdomain).collect();
        subdomains.sort_unstable();
        subdomains.dedup();
        Some(Unseen {
            key: worst.key.clone(),
            mismatch: mismatch(worst),
            share,
            serious: !affected.is_empty(),
            subdomains: subdomains.len(),
            subdomain: worst.subdomain,
            point: worst.point,
            value: worst.value,
            expected: worst.expected,
        })
    }
}
