//! The checks of the exchange on one process.

#[path = "exchange/body.rs"]
mod body;

use std::sync::Arc;

#[test]
fn one_process() {
    let machine: body::Machine = Arc::new(ddelm::exchange::Serial);
    for (name, check) in body::CHECKS {
        println!("{name}");
        check(&machine);
    }
}
