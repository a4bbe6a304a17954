//! The page: well-formed, whole, and open to a browser.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use engine::eval::params::{Axis, PAIRS, Weights, fields, leaves};
use tuner::answer::report::{Page, compare, page};
use tuner::data::{Dataset, ReadOptions, Source};
use tuner::run::{CurvePoint, Errors};
use tuner::source::{Own, Resolve};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A name that is no text of a page as it stands.
const NAME: &str = "<b>&\"'";
const ESCAPED: &str = "&lt;b&gt;&amp;&quot;'";

fn weights(name: &str) -> Weights {
    Weights::load(Path::new(REPOSITORY).join("params").join(name)).unwrap()
}

/// Every so many of the embedded positions.
fn lines(step: usize) -> Vec<String> {
    let packed = std::fs::read(Path::new(REPOSITORY).join("data/quiet.epd.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    text.lines().step_by(step).map(str::to_owned).collect()
}

/// A page with something in each of its parts.
fn whole_page() -> Page {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    std::fs::write(&path, lines(40).join("\n")).unwrap();
    let dataset = Dataset::read(vec![Source::open(&path).unwrap()], &ReadOptions::default(), &()).unwrap();
    let dataset = Arc::new(dataset);
    let problem = |file: &str| {
        Own { start: weights(file), resolve: Resolve::Qsearch }.problem(Arc::clone(&dataset), &()).unwrap()
    };
    let [tuned, base] = ["tuned.toml", "baseline.toml"].map(problem);
    let mut page = compare((NAME.to_owned(), &tuned), ("base".to_owned(), &base), None, &()).unwrap();
    page.outcome.history = (0..300)
        .map(|step| CurvePoint {
            objective: 0.056 + 0.01 * (-0.3 * step as f64).exp(),
            held: Some(0.058 + 0.008 * (-0.25 * step as f64).exp()),
        })
        .collect();
    let error = |index: usize| (!index.is_multiple_of(7)).then_some(1.5 + index as f64 / 100.0);
    page.outcome.errors = Some(Errors { by_parameter: (0..Weights::DIMENSIONS).map(error).collect(), clusters: 9 });
    page.text += &format!("\nprogram {NAME}");
    page.outcome.warnings = vec![format!("mind {NAME}")];
    page
}

/// Every element is closed in its turn, attributes are in quotation marks and come once, and characters that mean
/// something are written as entities.
fn check_form(page: &str) {
    const VOID: [&str; 3] = ["meta", "link", "wbr"];
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut open: Vec<&str> = Vec::new();
    while let Some((text, after)) = rest.split_once('<') {
        assert!(open.last() == Some(&"style") || (!text.contains('>') && has_only_entities(text)), "{text}");
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut seen = Vec::new();
        while !attributes.is_empty() {
            let (attribute, value) = attributes.split_once("=\"").unwrap_or_else(|| panic!("{tag}"));
            let (value, after) = value.split_once('"').unwrap();
            assert!(!seen.contains(&attribute) && has_only_entities(value), "{tag}");
            seen.push(attribute);
            attributes = after.trim_start();
        }
        assert!(name != "svg" || (seen.contains(&"role") && seen.contains(&"aria-label")), "{tag}");
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
}

fn has_only_entities(text: &str) -> bool {
    let known = |after: &str| ["lt;", "gt;", "amp;", "quot;"].iter().any(|entity| after.starts_with(entity));
    text.split('&').skip(1).all(known)
}

/// The numbers on a board of the page, from a8 to h1 as drawn, in the order a1 to h8.
fn board(page: &str, described: &str) -> Vec<String> {
    let board = page.split_once(&format!("aria-label=\"{described}\">")).unwrap_or_else(|| panic!("{described}")).1;
    let board = board.split_once("</svg>").unwrap().0;
    let squares = board.split("<g>").skip(1);
    squares
        .map(|square| {
            let text = square.split_once("<text").map(|(_, text)| text.split_once('>').unwrap().1);
            text.map_or_else(String::new, |text| text.split_once('<').unwrap().0.to_owned())
        })
        .collect()
}

#[test]
fn a_page_is_well_formed_and_needs_nothing_else() {
    let page = page(&whole_page());
    check_form(&page);
    for word in ["http:", "https:", "//", "<script", "@import", "src=", "<b>", "NaN", "inf"] {
        let place = page.find(word).map(|at| &page[at.saturating_sub(80)..at + 20]);
        assert!(
            place.is_none() || word == "inf" || word == "//" && place.unwrap().contains("/tmp"),
            "{word}: {place:?}"
        );
    }
    assert_eq!(page.matches("url(").count(), page.matches("url(#").count());
    assert_eq!(
        page.matches("href=").count(),
        page.matches("href=\"#").count() + page.matches("href=\"data:,\"").count()
    );
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
    // Title, head, text, warning, and the file wherever it is named.
    assert!(page.matches(ESCAPED).count() >= 8);
}

#[test]
fn every_table_and_every_number_is_there() {
    let told = whole_page();
    let page = page(&told);
    let number = |value: f64| if value < 0.0 { format!("−{}", -value) } else { value.to_string() };
    let (before, after) = (&told.outcome.start, &told.outcome.theta);
    let seen = &told.outcome.occurrences;
    let leaves = leaves();
    let mut boards = 0;
    for field in fields() {
        if field.axes.last() != Some(&Axis::Board) {
            let group = field.name.split('.').next().unwrap();
            assert!(page.contains(&format!("<h2>{group}</h2>")) && page.contains(field.summary()), "{}", field.name);
            continue;
        }
        let first = leaves.iter().position(|leaf| leaf.field == field).unwrap();
        for table in (first..first + field.leaves()).step_by(64) {
            let name = leaves[table].path.strip_suffix(".a1").unwrap();
            for (stage, stage_name) in ["midgame", "endgame"].iter().enumerate() {
                let at = |pair: usize| 2 * pair + stage;
                let numbers = |of: &dyn Fn(usize) -> f64| -> Vec<String> {
                    let word = |pair| if seen[at(pair)] == 0 { String::new() } else { number(of(at(pair))) };
                    (table..table + 64).map(word).collect()
                };
                assert_eq!(board(&page, &format!("{name} {stage_name} before")), numbers(&|i| before[i]));
                assert_eq!(board(&page, &format!("{name} {stage_name} after")), numbers(&|i| after[i]));
                assert_eq!(board(&page, &format!("{name} {stage_name} change")), numbers(&|i| after[i] - before[i]));
                boards += 3;
            }
        }
    }
    assert_eq!(page.matches("class=\"heat\"").count(), boards);
    for (index, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.field.axes.last() != Some(&Axis::Board)) {
        let row = page.split_once(&format!("title=\"{}\"", leaf.path)).unwrap_or_else(|| panic!("{}", leaf.path)).1;
        let row = row.split_once("</tr>").unwrap().0;
        let numbers = if index < PAIRS { vec![2 * index, 2 * index + 1] } else { vec![PAIRS + index] };
        for index in numbers {
            assert!(row.contains(&format!(">{}<", number(after[index]))), "{}: {row}", leaf.path);
            assert!(row.contains(&format!("{} before", number(before[index]))), "{}: {row}", leaf.path);
        }
    }
    let loss = told.outcome.loss;
    assert!(page.contains(&format!("{:.7}", loss.before)) && page.contains(&format!("{:.7}", loss.after)));
    let [_, after] = told.outcome.explained.as_ref().unwrap();
    assert_eq!(page.matches("class=\"board\"").count(), after.worst.len());
    assert!(page.contains(&told.outcome.files[0].sha256));
}

#[test]
fn unknown_figures_are_left_out() {
    let mut told = whole_page();
    let whole = page(&told);
    for word in ["Loss by step", "Calibration", "Worst predicted", "Warnings", "Clearest changes", "sha256 "] {
        assert!(whole.contains(word), "{word}");
    }
    let outcome = &mut told.outcome;
    (outcome.explained, outcome.errors, outcome.occurrences) = (None, None, vec![]);
    (outcome.history, outcome.warnings, outcome.files) = (vec![], vec![], vec![]);
    outcome.skipped = BTreeMap::new();
    outcome.theta = outcome.start.clone();
    let bare = page(&told);
    check_form(&bare);
    for word in ["Loss by step", "Calibration", "Worst predicted", "<h2>Warnings", "Clearest", "sha256 "] {
        assert!(!bare.contains(word), "{word}");
    }
    assert!(bare.contains("No parameter has changed.") && bare.contains("psqt.king midgame after"));
}

/// The browser that `CHROMIUM` names, or one of the usual names.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = |name: &str| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    named.or_else(|| ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(in_path))
}

#[test]
fn a_browser_opens_it_without_complaint() {
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no Chromium on PATH, and CHROMIUM names none");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page(&whole_page())).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{log}");
    assert!(!log.contains("CONSOLE"), "{log}");
    assert_eq!(dom.matches("class=\"heat\"").count(), 36);
    assert!(dom.trim_end().ends_with("</html>") && dom.contains("</footer>"));
}

#[test]
fn a_run_writes_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let (data, output, report) =
        (folder.path().join("data.epd"), folder.path().join("out.toml"), folder.path().join("run.html"));
    std::fs::write(&data, lines(100).join("\n")).unwrap();
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_tuner"));
    command
        .current_dir(REPOSITORY)
        .args(["--validation", "0.2", "--prior", "1e-5", "--freeze", "tempo", "--epd"])
        .arg(&data);
    command.arg("--output").arg(&output).arg("--report").arg(&report).assert().success();
    let page = std::fs::read_to_string(report).unwrap();
    check_form(&page);
    let words = ["Tuning run", "Loss by step", "Loss, hold-out", "numbers kept their start", "Calibration", "± "];
    for word in words {
        assert!(page.contains(word), "{word}");
    }
    let tuned = Weights::load(&output).unwrap();
    let number = |value: f64| if value < 0.0 { format!("−{}", -value) } else { value.to_string() };
    let first = leaves().iter().position(|leaf| leaf.path == "psqt.rook.a1").unwrap();
    let numbers: Vec<String> = (first..first + 64).map(|pair| number(tuned.to_vector()[2 * pair])).collect();
    let found = board(&page, "psqt.rook midgame after");
    assert!(found.iter().zip(&numbers).all(|(found, number)| found.is_empty() || found == number), "{found:?}");
    assert!(found.iter().filter(|found| !found.is_empty()).count() > 60);
}
