//! Tests of the search for parameters in sources, and of its errors.

use std::path::Path;

use super::*;

/// Returns sources with the given names and texts.
fn sources(files: &[(&str, &str)]) -> Sources {
    let file = |&(name, text): &(&str, &str)| SourceFile {
        path: name.into(),
        text: text.into(),
        syntax: Syntax::of(Path::new(name)).expect("a language"),
    };
    Sources { files: files.iter().map(file).collect() }
}

fn parameter(name: &str, numbers: &[f64]) -> Parameter {
    Parameter { name: name.to_owned(), sum: Some(0), start: numbers.to_vec(), unit: 1.0, decimals: 0 }
}

/// Rewrites a file with the value of one parameter.
fn rewritten(name: &str, text: &str, parameter: &Parameter, pair: Option<&str>) -> Result<String, String> {
    let pair: Option<PairPattern> = pair.map(|pair| pair.parse().expect("a pair"));
    let sources = sources(&[(name, text)]);
    let rewritten = sources
        .find(std::slice::from_ref(parameter), &[false], pair.as_ref())
        .and_then(|found| found.rewritten(std::slice::from_ref(parameter)));
    rewritten.map(|files| String::from_utf8(files[0].after.clone()).expect("text")).map_err(|error| error.to_string())
}

#[test]
fn declarations_of_every_form_are_found() {
    for (file, text, pair) in [
        ("a.c", "const int X = §;", None),
        ("a.c", "int Y, X = §;", None),
        ("a.c", "const int Y = f(X), *Z, X = §, W = 5;", None),
        ("a.c", "#define S(a, b) S_(a, b)\nstatic const Score X = S§;", None),
        ("a.c", "Score X = S(§);", Some("S({mg},{eg})")),
        ("a.c", "Score X = (§)", Some("({mg},{eg})")),
        ("a.c", "struct { int a; } X = §;", None),
        ("a.c", "#define X S(§)\n", Some("S({mg},  {eg})")),
        ("a.h", "#ifdef A\n#define X   \\\n §\n#endif", None),
        ("a.h", "enum { X = §, Y };", None),
        ("a.cpp", "template<class T> int f() { return X; } const int X = §;", None),
        ("a.cpp", "struct A { Score Y{1, 2}; Score X{§}; };", Some("{{mg}, {eg}}")),
        ("a.cpp", "const char* s = \"X = 5\\\"\"; auto c = '\"'; std::vector<std::vector<int>> X = §;", None),
        ("a.cpp", "constexpr std::array X { std::pair<int, int>{§} };", Some("std::pair<int, int>{{mg}, {eg}}")),
        ("a.cpp", "std::array<int, (1 << N) + 1> Y; const std::array<int, 1 << 1> X = §;", None),
        ("a.rs", "pub static mut X: i32 = §;", None),
        ("a.rs", "fn f<'x>(x: &'x str) { let X = §; let c = 'X'; }", None),
        ("a.rs", "const X: [[S; 1]; 1] = [[S(§)]];", Some("S({mg}, {eg})")),
        ("A.java", "class A { @Deprecated private final static int X = §; }", None),
        ("A.cs", "class A { [Tunable(1, 2)] public static int X = §; }", None),
        ("A.cs", "var s = @\"\\\"; int X = §;", None),
        ("a.go", "func f() {\n\tX := §\n}", None),
        ("a.go", "var (\n\ta = f(1,\n\t2)\n\tX int = §\n)", None),
        ("a.rs", "impl Default for P { fn default() -> Self { Self { Y: S(1), X: S(§) } } }", Some("S({mg}, {eg})")),
        ("a.rs", "struct P { X: i32 }\nfn f() -> P { P { X: § } }", None),
        ("A.cs", "class A { public int X { get; set; } = §; int Y => X; }", None),
        ("A.cs", "class A { static int X => §; }", None),
        ("a.go", "var X S\nfunc init() {\n\tX = S{§}\n}", Some("S{{mg}, {eg}}")),
        ("a.cpp", "#define LIST(P) \\\n P(Y, 5) \\\n P(X, §)\nint f() { return g(X, 5); }", None),
        ("a.cpp", "TERM(Y, S(1, 2))\nTERM(X, S(§))\n", Some("S({mg}, {eg})")),
        ("a.zig", "const s =\n    \\\\const X = 5;\n;\npub const X: i32 = §; // const X = 5;", None),
        ("a.py", "class A:\n    def __init__(self):\n        self.X = §\n", None),
        ("a.toml", "# X = 5\n[values]\ns = 'X = 5\\'\nX = § # five\n", None),
        ("a.json", "{ \"a\": { \"X\": 5 }, \"b\": [\"X\"],\n  \"X\": [§] }", Some("[{mg}, {eg}]")),
        ("a.py", "class A:\n    X = § # X = 5\n", None),
        ("a.py", "s = \"\"\"\nX = 5\n\"\"\"\nX: int = \\\n §; y = 5", None),
    ] {
        let inner = |[midgame, endgame]: [&str; 2]| match (pair, text.contains("S§")) {
            (Some(_), _) => format!("{midgame}, {endgame}"),
            (None, true) => format!("({midgame}, {endgame})"),
            (None, false) => midgame.to_owned(),
        };
        let is_pair = pair.is_some() || text.contains("S§");
        let numbers: &[f64] = if is_pair { &[-12.0, 345.0] } else { &[-12.0] };
        let name = if text.contains("[[") { "X[0][0]" } else { "X" };
        let before = text.replace('§', &inner(["7", "8"]));
        let after = rewritten(file, &before, &parameter(name, numbers), pair);
        assert_eq!(after, Ok(text.replace('§', &inner(["-12", "345"]))), "{before}");
    }
}

#[test]
fn scopes_select_among_equal_names() {
    let cases = [
        ("a.cpp", "namespace Knight { const int X = 1; }\nnamespace Rook { const int X = §; }"),
        ("a.cpp", "class Knight { static int X; };\nint Knight::X = 1;\nint Rook::X = §;"),
        ("a.rs", "impl Knight { const X: i32 = 1; }\nimpl Rook { pub const X: i32 = §; }"),
        ("A.java", "class Knight { static int X = 1; }\nclass Rook { class Open { static final int X = §; } }"),
    ];
    for (file, text) in cases {
        let (before, after) = (text.replace('§', "5"), text.replace('§', "7"));
        assert_eq!(rewritten(file, &before, &parameter("Rook::X", &[7.0]), None), Ok(after), "{text}");
        let refused = rewritten(file, &before, &parameter("Queen::X", &[7.0]), None);
        assert!(refused.unwrap_err().contains("`Queen::X`: declared in none of"), "{text}");
    }
    let of_files = sources(&[("knight.c", "int X = 1;"), ("rook.c", "int X = 5;")]);
    let [knight, rook] = [1.0, 7.0].map(|value| parameter("", &[value]));
    let parameters =
        [Parameter { name: "Knight::X".to_owned(), ..knight }, Parameter { name: "Rook::X".to_owned(), ..rook }];
    let found = of_files.find(&parameters, &[false; 2], None).unwrap();
    let texts = found.rewritten(&parameters).unwrap();
    assert_eq!(texts.iter().map(|file| &file.after[..]).collect::<Vec<_>>(), [b"int X = 1;", b"int X = 7;"]);
}

#[test]
fn uses_are_not_declarations() {
    for (file, text) in [
        ("a.c", "void f() { X = 5; if (a) X = 5; else X = 5; a = 1, X = 5; *X = 5; g(X = 5); a.X = 5; X == 5; } "),
        ("a.c", "extern int X; int X[2]; return X; S y = { .X = 5 }; a ? X : 5;"),
        ("a.c", "#define X(a) 5\n#define X\nint XX = 5; // int X = 5;\n/* int X = 5; */ char *s = \"int X = 5;\";"),
        ("a.cpp", "struct X { int a; }; enum X { A }; namespace X { } X f(); auto s = R\"(int X = 5;)\";"),
        ("a.rs", "fn f(X: i32) { X = 5; g(X) } // const X: i32 = 5;\n/* /* */ const X: i32 = 5; */"),
        ("a.go", "func f() { X = 5; if X == 5 { } }\nvar s = `\nvar X = 5\n`"),
        ("a.py", "f(\n  X = 5,\n)\nX[0] = 5\na.X = 5\nX += 5\nif X == 5: pass\n'''\nX = 5\n'''\n"),
        ("a.rs", "struct P { X: i32 } match p { P { X: 5 } => 1, _ => f(|X: i32| 5) }; if let P { X: 5 } = p {}"),
        ("a.cpp", "#define MAX(X, b) 5\nint f(X, 5); void g() { h(X, 5); MAX(X, 5); } TERM(X, 5, 6) TERM(7, X, 5)"),
        ("a.go", "func initial() { X = 5 }\nfunc init() { if a { b.X = 5 }\nY.X = 5 }"),
        ("a.json", "{ \"a\": { \"X\": 5 }, \"b\": \"X\" }"),
        ("a.toml", "a.X = 5\nb = { X = 5 }"),
        ("a.zig", "X = 5; const y = .{ .X = 5 };"),
        ("A.cs", "x = new A { X = 5 }; s = @\"\"\" int X = 5; \"; t = $\"int X = 5;\";"),
    ] {
        let fault = rewritten(file, text, &parameter("X", &[1.0]), None);
        assert_eq!(fault, Err(format!("`X`: declared in none of {file}")), "{text}");
    }
}

#[test]
fn only_digits_and_signs_change() {
    for (before, value, decimals, after) in [
        ("- /* minus */ 24", 31.0, 0, " /* minus */ 31"),
        ("- 24", -7.0, 0, "- 7"),
        ("+24", -7.0, 0, "-7"),
        ("+24", 7.0, 0, "+7"),
        ("1'000", 1000.0, 0, "1'000"),
        ("1'000", 1001.0, 0, "1001"),
        ("24L", -5.0, 0, "-5L"),
        ("5.f", 7.0, 0, "7.f"),
        ("5.f", 0.25, 2, "0.25f"),
        ("0.50f", 7.0, 0, "7.00f"),
        ("-0.500", -0.0001, 3, "0.000"),
        ("((-5))", 6.0, 0, "((6))"),
    ] {
        let parameter = Parameter { decimals, ..parameter("X", &[value]) };
        let text = rewritten("a.c", &format!("float X = {before};"), &parameter, None);
        assert_eq!(text, Ok(format!("float X = {after};")));
    }
}

#[test]
fn dotted_names_select_elements() {
    for (file, text) in [
        ("a.py", "X = {\n    chess.KNIGHT: S(§),\n    chess.PAWN: S(1, 2),\n}"),
        ("A.cs", "Dictionary<Piece, S> X = new() { [Piece.PAWN] = new(1, 2), [Piece.KNIGHT] = new(§) };"),
        ("A.cs", "static readonly Table X = new(PAWN: new(1, 2), KNIGHT: new(§));"),
    ] {
        let after = rewritten(file, &text.replace('§', "3, 4"), &parameter("X.KNIGHT", &[-5.0, 0.0]), None);
        assert_eq!(after, Ok(text.replace('§', "-5, 0")));
    }
    let nested = "static readonly Table X = new(new(0, 0), new(§));";
    let after = rewritten("A.cs", &nested.replace('§', "2, -11"), &parameter("X[1]", &[3.0, 4.0]), None);
    assert_eq!(after, Ok(nested.replace('§', "3, 4")));
}

/// The end of a number stays in its column if there are enough spaces before it.
#[test]
fn numbers_stay_in_their_columns() {
    let pairs = |numbers: &[[f64; 2]]| {
        let pair = |(index, pair): (usize, &[f64; 2])| parameter(&format!("X[{index}]"), pair);
        numbers.iter().enumerate().map(pair).collect::<Vec<_>>()
    };
    for (before, numbers, after) in [
        ("S(   0,    0)", &[[-8.0, -13.0]][..], "S(  -8,  -13)"),
        ("S( -10,    7)", &[[0.0, 123.0]], "S(   0,  123)"),
        ("S(   0,    0)", &[[-10_000.0, 5.0]], "S(-10000,  5)"),
        ("S(-8, -13)", &[[0.0, 1.0]], "S(0, 1)"),
        ("S(0, 0)", &[[-8.0, -13.0]], "S(-8, -13)"),
        ("S(0, 0), S(  5,  7)", &[[-8.0, 10.0], [5.0, 7.0]], "S(-8, 10), S(5,  7)"),
        ("S(100,  2),\n    S(  7, 10)", &[[5.0, 2.0], [-777.0, 10.0]], "S(  5,  2),\n    S(-777, 10)"),
        ("  {  5, -6},\n  {-10,   8}", &[[-55.0, 7.0], [3.0, -888.0]], "  { -55, 7},\n  {  3, -888}"),
    ] {
        let parameters = pairs(numbers);
        let sources = sources(&[("a.c", &format!("S X[] = {{{before}}};"))]);
        let found = sources.find(&parameters, &vec![false; numbers.len()], None).unwrap();
        let text = String::from_utf8(found.rewritten(&parameters).unwrap()[0].after.clone()).unwrap();
        assert_eq!(text, format!("S X[] = {{{after}}};"));
    }
}

#[test]
fn unwritable_values_are_reported_with_their_line() {
    let pair = |name| parameter(name, &[1.0, 2.0]);
    let single = |name| parameter(name, &[1.0]);
    for (text, parameter, shape, fault) in [
        ("int X = Y;", single("X"), None, "`X`: a.c:2: expected a decimal number, found `Y`"),
        ("int X = 0x10;", single("X"), None, "`X`: a.c:2: expected a decimal number, found `0x10`"),
        ("int X = 010;", single("X"), None, "`X`: a.c:2: expected a decimal number, found `010`"),
        ("int X = 2 * 5;", single("X"), None, "`X`: a.c:2: expected a decimal number, found `2 * 5`"),
        ("int X = t[5];", single("X"), None, "`X`: a.c:2: expected a decimal number, found `t[5]`"),
        ("int X = ~S(5);", single("X"), None, "`X`: a.c:2: expected a decimal number, found `~S(5)`"),
        (
            "S X[4] = [S(0, 0); 4];",
            pair("X[1]"),
            None,
            "`X[1]`: a.c:2: expected a list, found `[S(0, 0); 4]`, one number for all elements: write each of them out",
        ),
        ("int X = S(1, 2);", single("X"), None, "`X`: a.c:2: expected a decimal number, found `S(1, 2)`"),
        ("int X = 5;", pair("X"), None, "`X`: a.c:2: expected a pair of decimal numbers, found `5`"),
        ("int X = {1,\n A};", pair("X"), None, "`X`: a.c:2: expected a pair of decimal numbers, found `{1, A}`"),
        (
            "int X = {1, 2};",
            pair("X"),
            Some("S({mg},{eg})"),
            "`X`: a.c:2: expected a pair of decimal numbers as in `S({mg},{eg})`, found `{1, 2}`",
        ),
        ("int X[] = {1,\n2};", single("X[2]"), None, "`X[2]`: a.c:2: none of the 2 elements here is `2`"),
        ("int X[] = {[A] = 1};", single("X[0]"), None, "`X[0]`: a.c:2: none of the 1 elements here is `0`"),
        ("int X = 5;", single("X[2]"), None, "`X[2]`: a.c:2: expected a list, found `5`"),
        (
            "int X = 5; enum {\nX = 5 };",
            single("X"),
            None,
            "`X`: declared more than once, at a.c:2 and a.c:3; a class, namespace or file in front of the name selects one, as in `Rook::X`",
        ),
        ("int X_MG = 5;", pair("X"), None, "`X`: of its two numbers, only that of the midgame is declared, at a.c:2"),
        (
            "int X_MG = 5, egX = 6;",
            single("X"),
            None,
            "`X`: a.c:2: one number is wanted, and a midgame and an endgame number stand here",
        ),
        (
            "int X = 5;",
            Parameter { decimals: 2, ..single("X") },
            None,
            "`X`: a.c:2: a whole number stands here, and its start in the rows has digits behind the decimal point: \
             write both the same way",
        ),
    ] {
        assert_eq!(rewritten("a.c", &format!("\n{text}"), &parameter, shape), Err(fault.to_owned()));
    }
    let files = sources(&[("a.c", "int A = 1;"), ("b.rs", "const A: i32 = 1;\nconst B: i32 = 2;")]);
    let fault = files.find(&[single("A"), single("B"), single("C[0]"), single("C[1]")], &[false; 4], None);
    let message = "`A`: declared more than once, at a.c:1 and b.rs:1; a class, namespace or file in front of the name \
        selects one, as in `Rook::A`; `C`: declared in none of a.c, b.rs";
    assert_eq!(fault.unwrap_err().to_string(), message);
    let fault = files.find(&[single("B"), single("B[]")], &[false; 2], None).unwrap_err();
    assert_eq!(fault.to_string(), "`B[]` and `B`: are the same number at b.rs:2");
    let names: Vec<String> = (0..9).map(|number| format!("N{number}")).collect();
    let missing: Vec<Parameter> = names.iter().map(|name| single(name)).collect();
    let fault = files.find(&missing, &[false; 9], None).unwrap_err().to_string();
    assert!(fault.ends_with("`N4`: declared in none of a.c, b.rs; and 4 more"), "{fault}");
    let found = files.find(&missing, &[true; 9], None).expect("they may be missing");
    assert_eq!(found.values(&missing), missing);
    assert!(found.rewritten(&missing).expect("nothing").iter().all(|file| file.before == file.after));
    let unknown = Sources::read(&["a.txt".into()]).unwrap_err().to_string();
    assert!(
        unknown.starts_with("a.txt: of no language that is known: its name should end with one of .c .h "),
        "{unknown}"
    );
    for shape in ["S", "S({mg})", "S({mg},{mg},{eg})", "S({mg}x,{eg})"] {
        assert!(shape.parse::<PairPattern>().is_err(), "{shape}");
    }
}

#[test]
fn elements_that_are_not_named_keep_their_numbers() {
    let text = "int X[2][3] = {{S(1,1), S(2,2), A}, {S(3,3)}};";
    let after = rewritten("a.c", text, &parameter("X[0][1]", &[9.0, 2.0]), None);
    assert_eq!(after, Ok(text.replace("S(2,2)", "S(9,2)")));
    for (text, expected) in [
        ("Score X = {.eg = 3, .mg = 4};", "Score X = {.eg = 2, .mg = 1};"),
        ("Score X = {[1] = 3, [0] = 4};", "Score X = {[1] = 2, [0] = 1};"),
        ("int X[1][2] = {{3, 4}};", "int X[1][2] = {{1, 2}};"),
        ("int X = -S(4, -5);", "int X = -S(-1, -2);"),
        ("int X = (4 << 16) + -3;", "int X = (2 << 16) + 1;"),
    ] {
        let shape = text.contains("<<").then_some("({eg}<<16)+{mg}");
        assert_eq!(rewritten("a.c", text, &parameter("X", &[1.0, 2.0]), shape), Ok(expected.to_owned()));
    }
}

#[test]
fn differences_have_the_format_of_patch() {
    let before: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let after = before.replace("line 5\n", "LINE 5\n").replace("line 6\n", "LINE 6\n").replace("line 30\n", "LINE 30");
    let expected = "\
--- a.c
+++ a.c
@@ -2,8 +2,8 @@
 line 2
 line 3
 line 4
-line 5
-line 6
+LINE 5
+LINE 6
 line 7
 line 8
 line 9
@@ -27,4 +27,4 @@
 line 27
 line 28
 line 29
-line 30
+LINE 30
\\ No newline at end of file
";
    let difference = |after: &str| {
        Rewritten { path: "a.c".into(), before: before.clone().into(), after: after.into(), changed: 0 }.diff()
    };
    assert_eq!(difference(&after), expected);
    assert_eq!(difference(&before), "");
}

#[test]
fn arbitrary_bytes_cause_no_panic() {
    const PIECES: [&str; 49] = [
        "X",
        "Y",
        " ",
        "\n",
        "=",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        "-",
        "5",
        "0.5f",
        "\"",
        "'",
        "\"\"\"",
        "`",
        "#",
        "#define ",
        "//",
        "/*",
        "*/",
        "\\",
        "R\"(",
        "r#\"",
        "@\"",
        "<",
        ">",
        ">>",
        ":",
        "::",
        ".",
        "..",
        "const ",
        "int ",
        "var ",
        "enum ",
        "S",
        "X_MG",
        "\u{FFFD}",
        "'a",
        "\"X\"",
        "func init",
        "self.",
        "Self ",
        "M(",
    ];
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let pair: PairPattern = "S({mg},{eg})".parse().expect("a pair");
    let parameters = [parameter("X", &[1.0]), parameter("Y[1]", &[3.0, 4.0])];
    let mut found = 0;
    for name in ["a.c", "a.rs", "a.cs", "a.java", "a.go", "a.py", "a.json", "a.toml", "a.zig"] {
        for _ in 0..4000 {
            let mut text = Vec::new();
            for _ in 0..random(40) {
                match random(8) {
                    0 => text.push(random(256) as u8),
                    1 => text.extend_from_slice(b"int X = 5"),
                    _ => text.extend_from_slice(PIECES[random(PIECES.len())].as_bytes()),
                }
            }
            let syntax = Syntax::of(Path::new(name)).expect("a language");
            let sources = Sources { files: vec![SourceFile { path: name.into(), text, syntax }] };
            for pair in [None, Some(&pair)] {
                let Ok(places) = sources.find(&parameters, &[false, true], pair) else { continue };
                found += 1;
                let new = places.rewritten(&parameters).expect("whole numbers");
                assert_eq!(
                    new[0].before.iter().filter(|&&byte| byte == b'\n').count(),
                    new[0].after.iter().filter(|&&byte| byte == b'\n').count()
                );
                _ = new[0].diff();
            }
        }
    }
    assert!(found > 100, "{found}");
    let deep = format!("int X = {}5{};", "{".repeat(100_000), "}".repeat(100_000));
    assert!(rewritten("a.c", &deep, &parameter("X", &[1.0]), None).is_err());
}

/// C fills arrays up with zeros, and the length of an array includes the missing elements.
#[test]
fn elements_that_lists_leave_out_stay_zero() {
    let parameters = [
        parameter("X[0][0]", &[7.0, 8.0]),
        parameter("X[0][1]", &[0.0, 0.0]),
        parameter("X[1][0]", &[0.0, 0.0]),
        parameter("Y", &[1.0]),
    ];
    let left_out = |file: &str, text: &str| {
        let found = sources(&[(file, text)]);
        let found = found.find(&parameters, &[false, false, false, true], None).map_err(|error| error.to_string())?;
        let changed = parameters.clone().map(|one| Parameter { start: vec![9.0; 2], ..one });
        let text = found.rewritten(&changed).unwrap()[0].after.clone();
        Ok::<_, String>((found.left_out().to_vec(), String::from_utf8(text).unwrap()))
    };
    let expected = (vec![false, true, true, false], "S X[2][2] = {{{9, 9}}};".to_owned());
    assert_eq!(left_out("a.c", "S X[2][2] = {{{7, 8}}};"), Ok(expected));
    let refused = left_out("a.rs", "const X: [[S; 2]; 2] = [[(7, 8)]];").unwrap_err();
    assert!(refused.contains("none of the 1 elements here is `1`"), "{refused}");
}
