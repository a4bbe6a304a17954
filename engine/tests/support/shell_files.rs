//! What a program writes for shells, checked, and the help that it is made of.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Has a program write its files, and checks that they tell all commands that its help does, and that a shell reads them.
pub(crate) fn check(program: &str, path: &str) {
    let folder = tempfile::tempdir().unwrap();
    let written = Command::new(path).arg("shell-files").arg(folder.path()).output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let help = help_of(path, &["--help"]);
    are_paragraphs_full(&help);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: BTreeSet<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains("shell-files") && commands.len() > 5, "{commands:?}");

    for command in commands.iter().filter(|command| **command != "help") {
        are_paragraphs_full(&help_of(path, &[command, "--help"]));
    }

    let read = |name: String| {
        let path = folder.path().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    for script in [
        format!("{program}.bash"),
        format!("_{program}"),
        format!("{program}.fish"),
        format!("_{program}.ps1"),
        format!("{program}.elv"),
    ] {
        let text = read(format!("completions/{script}"));
        for command in commands.iter().filter(|command| **command != "help") {
            assert!(text.contains(command), "{script} does not know {command}");
        }
    }
    for command in commands.iter().filter(|command| **command != "help") {
        assert!(read(format!("man/{program}-{command}.1")).contains(".SH SYNOPSIS"));
    }
    assert!(read(format!("man/{program}.1")).contains(".SH SYNOPSIS"));
    let bash = folder.path().join(format!("completions/{program}.bash"));
    match Command::new("bash").arg("-n").arg(bash).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("skipped: there is no bash: {error}"),
    }
}

/// The help of a program or of its command, as it is printed where there is no terminal: at most 100 columns.
fn help_of(path: &str, arguments: &[&str]) -> String {
    String::from_utf8(Command::new(path).args(arguments).output().unwrap().stdout).unwrap()
}

/// A line of prose ends where its next word does not fit: nobody broke it by hand at another width.
fn are_paragraphs_full(help: &str) {
    let lines: Vec<&str> = help.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with(|char| char != ' '))) {
        let word = pair[1].split(' ').next().unwrap_or_default();
        let longer = pair[0].chars().count() + 1 + word.chars().count();
        assert!(longer > 100 || pair[0].ends_with(':'), "{}\n{}", pair[0], pair[1]);
    }
}
