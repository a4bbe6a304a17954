//! What source files of each language look like, as far as numbers and their names go.

use std::path::Path;

/// How a language declares what has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declares {
    /// By a type in front: `const int X[2] = …`.
    Typed,
    /// By one of these words in front: `const X: S = …`.
    Words(&'static [&'static str]),
    /// By being the first word of a line: `X = …`.
    Lines,
    /// By being a key of the outermost object: `"X": …`.
    Keys,
}

/// A form of strings.
#[derive(Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Whether a backslash takes away the meaning of what is behind it.
    pub(super) escapes: bool,
    /// Whether it goes on beyond the end of the line.
    pub(super) is_long: bool,
}

/// Strings whose ends depend on how they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    None,
    /// `R"x(…)x"`.
    Cpp,
    /// `r#"…"#`.
    Rust,
    /// `@"…""…"`.
    Csharp,
}

/// A family of languages.
#[derive(Debug)]
pub(super) struct Syntax {
    endings: &'static [&'static str],
    pub(super) line_comment: &'static str,
    /// `/* … */`.
    pub(super) block_comments: bool,
    /// Whether these stand in one another.
    pub(super) nested_comments: bool,
    /// Longer ones first.
    pub(super) quotes: &'static [Quote],
    pub(super) raw: Raw,
    /// `'a` is no string.
    pub(super) lifetimes: bool,
    /// Whether `'` divides digits.
    pub(super) quoted_digits: bool,
    /// Whether ends of lines end statements.
    pub(super) lines: bool,
    /// Whether elements that a list does not have are 0.
    pub(super) fills_up: bool,
    /// `#define`.
    pub(super) directives: bool,
    /// `int X { get; set; } = 5;` and `int X => 5;`.
    pub(super) properties: bool,
    pub(super) declares: Declares,
}

const fn short(mark: &'static str) -> Quote {
    Quote { open: mark, close: mark, escapes: true, is_long: false }
}

const fn literal(mark: &'static str) -> Quote {
    Quote { open: mark, close: mark, escapes: false, is_long: false }
}

const fn long(mark: &'static str, escapes: bool) -> Quote {
    Quote { open: mark, close: mark, escapes, is_long: true }
}

const C: Syntax = Syntax {
    endings: &["c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inc", "inl", "ipp", "cu", "def"],
    line_comment: "//",
    block_comments: true,
    nested_comments: false,
    quotes: &[short("\""), short("'")],
    raw: Raw::Cpp,
    lifetimes: false,
    quoted_digits: true,
    lines: false,
    fills_up: true,
    directives: true,
    properties: false,
    declares: Declares::Typed,
};

const JAVA: Syntax = Syntax {
    endings: &["java"],
    quotes: &[long("\"\"\"", true), short("\""), short("'")],
    raw: Raw::None,
    quoted_digits: false,
    fills_up: false,
    directives: false,
    ..C
};

const CSHARP: Syntax = Syntax {
    endings: &["cs"],
    quotes: &[long("\"\"\"", false), short("\""), short("'")],
    raw: Raw::Csharp,
    properties: true,
    ..JAVA
};

const RUST: Syntax = Syntax {
    endings: &["rs"],
    nested_comments: true,
    quotes: &[long("\"", true), short("'")],
    raw: Raw::Rust,
    lifetimes: true,
    declares: Declares::Words(&["const", "static", "mut", "let"]),
    ..JAVA
};

const GO: Syntax = Syntax {
    endings: &["go"],
    quotes: &[short("\""), short("'"), long("`", false)],
    lines: true,
    declares: Declares::Words(&["var", "const"]),
    fills_up: true,
    ..JAVA
};

const PYTHON: Syntax = Syntax {
    endings: &["py", "pyi"],
    line_comment: "#",
    block_comments: false,
    quotes: &[long("\"\"\"", true), long("'''", true), short("\""), short("'")],
    lines: true,
    declares: Declares::Lines,
    ..JAVA
};

const TOML: Syntax = Syntax {
    endings: &["toml"],
    quotes: &[long("\"\"\"", true), long("'''", false), short("\""), literal("'")],
    ..PYTHON
};

const JSON: Syntax = Syntax { endings: &["json"], quotes: &[short("\"")], declares: Declares::Keys, ..JAVA };

const ZIG: Syntax = Syntax {
    endings: &["zig"],
    block_comments: false,
    // A line of a string begins with two backslashes.
    quotes: &[literal("\\\\"), short("\""), short("'")],
    declares: Declares::Words(&["const", "var"]),
    ..JAVA
};

const ALL: [&Syntax; 9] = [&C, &CSHARP, &GO, &JAVA, &JSON, &PYTHON, &RUST, &TOML, &ZIG];

impl Syntax {
    /// The language of a file, by the ending of its name.
    pub(super) fn of(path: &Path) -> Option<&'static Syntax> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        ALL.into_iter().find(|syntax| syntax.endings.contains(&&ending[..]))
    }

    /// All endings that are known, for messages.
    pub(super) fn endings() -> String {
        ALL.iter().flat_map(|syntax| syntax.endings).map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(" ")
    }

    /// Whether a value may stand in braces without `=`.
    pub(super) fn initialises_by_braces(&self) -> bool {
        self.directives
    }
}
