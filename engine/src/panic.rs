//! Ends the program when a thread panics.

/// Ends the program, with its message, if any thread panics: other threads might wait for it for ever.
pub fn abort_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        std::process::abort();
    }));
}
