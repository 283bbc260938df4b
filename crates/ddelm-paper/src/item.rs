//! What can be reproduced, by name.

use std::fmt;
use std::str::FromStr;

/// A table or figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// Tables 1 to 7.
    Table(u8),
    /// Figures 3 and 4.
    Figure(u8),
}

/// All of them, in the order of the paper.
pub const ALL: [Item; 9] = [
    Item::Table(1),
    Item::Table(2),
    Item::Figure(3),
    Item::Table(3),
    Item::Table(4),
    Item::Figure(4),
    Item::Table(5),
    Item::Table(6),
    Item::Table(7),
];

impl Item {
    /// What it shows.
    pub fn title(self) -> &'static str {
        match self {
            Item::Table(1) => "Poisson's equation: interface errors for three initializations",
            Item::Table(2) => "Poisson's equation with u = sin(2 pi x) e^y",
            Item::Table(3) => "Poisson's equation with a random source, alpha = 16",
            Item::Table(4) => "Poisson's equation with a random source, alpha = 32",
            Item::Table(5) => "variable coefficient, alpha = 16",
            Item::Table(6) => "variable coefficient, alpha = 32",
            Item::Table(_) => "plate bending",
            Item::Figure(3) => "the random sources and their solutions",
            Item::Figure(_) => "the variable coefficients and their solutions",
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Table(number) => write!(f, "table-{number}"),
            Item::Figure(number) => write!(f, "figure-{number}"),
        }
    }
}

impl FromStr for Item {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ALL.into_iter().find(|item| item.to_string() == text).ok_or_else(|| {
            let names: Vec<String> = ALL.iter().map(Item::to_string).collect();
            format!("there is {}, and `all`", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for item in ALL {
            assert_eq!(item.to_string().parse(), Ok(item));
        }
        assert!("table-8".parse::<Item>().is_err() && "figure-1".parse::<Item>().is_err());
    }
}
