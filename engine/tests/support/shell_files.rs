//! What a program writes for shells, checked.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Has a program write its files, and checks that they tell all commands that its help does, and that a shell reads them.
pub(crate) fn check(program: &str, path: &str) {
    let folder = tempfile::tempdir().unwrap();
    let written = Command::new(path).arg("shell-files").arg(folder.path()).output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let help = Command::new(path).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: BTreeSet<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains("shell-files") && commands.len() > 5, "{commands:?}");

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
