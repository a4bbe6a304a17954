//! The difference of two texts with the same number of lines.

use std::fmt::Write;

use super::Rewritten;

/// The number of context lines before and after each difference.
const CONTEXT: usize = 3;

impl Rewritten {
    /// Returns the difference in the format of `diff -u` and `patch`; empty if there is none.
    pub fn diff(&self) -> String {
        let name = self.path.display();
        let [old, new] =
            [&self.before, &self.after].map(|text| text.split_inclusive(|&byte| byte == b'\n').collect::<Vec<_>>());
        let changed: Vec<usize> = (0..old.len()).filter(|&line| old[line] != new[line]).collect();
        let mut text = String::new();
        if !changed.is_empty() {
            _ = writeln!(text, "--- {name}\n+++ {name}");
        }
        for lines in changed.chunk_by(|a, b| b - a <= 2 * CONTEXT) {
            let (first, last) = (lines[0], lines[lines.len() - 1]);
            let (start, end) = (first.saturating_sub(CONTEXT), (last + 1 + CONTEXT).min(old.len()));
            let place = format!("{},{}", start + 1, end - start);
            _ = writeln!(text, "@@ -{place} +{place} @@");
            let mut line = start;
            while line < end {
                let run = (line..end).take_while(|&at| (old[at] != new[at]) == (old[line] != new[line])).count();
                let sides: &[_] = if old[line] == new[line] { &[(' ', &old)] } else { &[('-', &old), ('+', &new)] };
                for (mark, side) in sides {
                    for shown in &side[line..line + run] {
                        _ = write!(text, "{mark}{}", String::from_utf8_lossy(shown));
                        if !shown.ends_with(b"\n") {
                            text.push_str("\n\\ No newline at end of file\n");
                        }
                    }
                }
                line += run;
            }
        }
        text
    }
}
