//! The syntax of each language, as far as numbers and their names are concerned.

use std::path::Path;

/// The syntax of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declares {
    /// A type in front: `const int X[2] = …`.
    Typed,
    /// One of these keywords in front: `const X: S = …`.
    Words(&'static [&'static str]),
    /// An assignment at the start of a line: `X = …`.
    Lines,
    /// A key of the outermost object: `"X": …`.
    Keys,
}

/// A form of string literals.
#[derive(Debug)]
pub(super) struct Quote {
    pub(super) mark: &'static str,
    /// True if a backslash escapes the next character.
    pub(super) escapes: bool,
    /// True if it may span lines.
    pub(super) is_long: bool,
}

/// A family of languages with forms that the others do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Raw strings `R"x(…)x"`, digits with `'` between, `#define`, and initialisers in braces without `=`.
    C,
    /// Raw strings `r#"…"#`, nested comments, and lifetimes such as `'a`.
    Rust,
    /// Raw strings `@"…""…"`, and properties: `int X { get; set; } = 5;` and `int X => 5;`.
    Csharp,
    Other,
}

/// The syntax of one or several languages.
#[derive(Debug)]
pub(super) struct Syntax {
    endings: &'static [&'static str],
    pub(super) family: Family,
    pub(super) line_comment: &'static str,
    /// True if the language has `/* … */`.
    pub(super) block_comments: bool,
    /// String forms, longer opening delimiters first.
    pub(super) quotes: &'static [Quote],
    /// True if the end of a line ends a statement.
    pub(super) lines: bool,
    /// True if missing elements of a list are 0.
    pub(super) fills_up: bool,
    pub(super) declares: Declares,
}

const fn short(mark: &'static str) -> Quote {
    Quote { mark, escapes: true, is_long: false }
}

const fn literal(mark: &'static str) -> Quote {
    Quote { mark, escapes: false, is_long: false }
}

const fn long(mark: &'static str, escapes: bool) -> Quote {
    Quote { mark, escapes, is_long: true }
}

const C: Syntax = Syntax {
    endings: &["c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inc", "inl", "ipp", "cu", "def"],
    family: Family::C,
    line_comment: "//",
    block_comments: true,
    quotes: &[short("\""), short("'")],
    lines: false,
    fills_up: true,
    declares: Declares::Typed,
};

const JAVA: Syntax = Syntax {
    endings: &["java"],
    family: Family::Other,
    quotes: &[long("\"\"\"", true), short("\""), short("'")],
    fills_up: false,
    ..C
};

const CSHARP: Syntax = Syntax {
    endings: &["cs"],
    family: Family::Csharp,
    quotes: &[long("\"\"\"", false), short("\""), short("'")],
    ..JAVA
};

const RUST: Syntax = Syntax {
    endings: &["rs"],
    family: Family::Rust,
    quotes: &[long("\"", true), short("'")],
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
    // A line of a multiline string begins with two backslashes.
    quotes: &[literal("\\\\"), short("\""), short("'")],
    declares: Declares::Words(&["const", "var"]),
    ..JAVA
};

const ALL: [&Syntax; 9] = [&C, &CSHARP, &GO, &JAVA, &JSON, &PYTHON, &RUST, &TOML, &ZIG];

impl Syntax {
    /// Returns the syntax of a file by its extension.
    pub(super) fn of(path: &Path) -> Option<&'static Syntax> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        ALL.into_iter().find(|syntax| syntax.endings.contains(&&ending[..]))
    }

    /// Lists all known extensions for messages.
    pub(super) fn endings() -> String {
        ALL.iter().flat_map(|syntax| syntax.endings).map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(" ")
    }
}
