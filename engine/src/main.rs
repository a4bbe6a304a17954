//! merino
fn main() {}
