//! What becomes of the program when a part of it fails.

/// Has a panic in any thread end the program with its message, in every build: whoever waits for the thread would wait
/// for ever otherwise.
pub fn abort_on_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        std::process::abort();
    }));
}
