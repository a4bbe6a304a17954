//! Rows of another engine, as text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tuner::fit::Problem;

fuzz_target!(|data: &[u8]| {
    let (_folder, path) = fuzz::file(data);
    if let Ok(problem) = Problem::read_rows(&path, &()) {
        let copy = path.with_extension("copy");
        problem.write_rows(&copy).expect("what was read can be written");
        let again = Problem::read_rows(&copy, &()).expect("what was written can be read");
        assert_eq!(problem.parameters().len(), again.parameters().len());
    }
});
