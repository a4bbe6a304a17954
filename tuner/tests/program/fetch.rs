//! `data/fetch`, from a server on this machine.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use sha2::{Digest, Sha256};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/fetch");

/// More than a full disk takes in the test of one.
fn content() -> Vec<u8> {
    b"8/8/8/8/8/k7/8/K7 w - - c9 \"1/2-1/2\";\n".repeat(2000)
}

/// A server that has the file in `good`, ends in the middle of it in `cut`, and has nothing else; its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap();
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            let content = content();
            let sent = match request.split('/').nth(1) {
                Some("good") => content.len(),
                Some("cut") => content.len() / 2,
                _ => {
                    stream
                        .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                        .unwrap();
                    continue;
                }
            };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len());
            // Whoever fetches may hang up first.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&content[..sent]));
        }
    });
    address
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs the script with a folder to fetch into and a server; what it said, and what is in the folder.
fn fetch(from: &str, arguments: &[&str]) -> (Output, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    run(Command::new(SCRIPT).env("MERINO_FETCH_FROM", from), folder.path(), arguments)
}

fn run(command: &mut Command, folder: &Path, arguments: &[&str]) -> (Output, Vec<PathBuf>) {
    let output = command.arg("--into").arg(folder).args(arguments).output().unwrap();
    let left = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    (output, left)
}

/// That it ended with status 2 and a line that says why, and left nothing.
fn assert_refused((output, left): (Output, Vec<PathBuf>), reason: &str) {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    let told: Vec<&str> = errors.lines().filter(|line| !line.starts_with("fetching ")).collect();
    assert!(told.len() == 1 && told[0].starts_with("error: ") && told[0].contains(reason), "{reason}: {errors}");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn files_with_the_right_checksum_are_kept() {
    let from = format!("{}/good", server());
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--sha256", &sha256(&content()).to_uppercase(), "quiet-labeled"];
    let (output, left) = run(Command::new(SCRIPT).env("MERINO_FETCH_FROM", &from), folder.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(left, [folder.path().join("quiet-labeled.epd")]);
    assert_eq!(fs::read(&left[0]).unwrap(), content());
    let (again, left) = run(Command::new(SCRIPT).env("MERINO_FETCH_FROM", &from), folder.path(), &arguments);
    assert!(again.status.code() == Some(2) && String::from_utf8_lossy(&again.stderr).contains("is there already"));
    assert_eq!(fs::read(&left[0]).unwrap(), content());
}

#[test]
fn unverified_files_need_a_flag_and_print_their_checksum() {
    let from = format!("{}/good", server());
    assert_refused(fetch(&from, &["quiet-labeled"]), "no checksum of it is known");
    let (output, left) = fetch(&from, &["--accept-unverified", "quiet-labeled"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains(&sha256(&content())) && left.len() == 1, "{errors}");
}

#[test]
fn failed_downloads_print_one_line_and_leave_nothing() {
    let server = server();
    let good = format!("{server}/good");
    let sum = sha256(&content());
    let take = ["--accept-unverified", "quiet-labeled"];
    assert_refused(
        fetch(&good, &["--sha256", &"0".repeat(64), "quiet-labeled"]),
        &format!("its checksum is {sum}, expected 0"),
    );
    assert_refused(fetch(&format!("{server}/cut"), &take), "/cut/quiet-labeled.epd: ");
    assert_refused(fetch(&format!("{server}/missing"), &take), "404");
    assert_refused(fetch("http://127.0.0.1:1", &take), "127.0.0.1:1/quiet-labeled.epd: ");
    assert_refused(fetch(&good, &["no-such-set"]), "no-such-set: no such set");
    assert_refused(fetch(&good, &["--no-such-flag"]), "--no-such-flag: no such flag");
    assert_refused(fetch(&good, &["--sha256", "abc", "quiet-labeled"]), "expected 64 hexadecimal digits");
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("no/such");
    let output = Command::new(SCRIPT).arg("--into").arg(&nowhere).args(take).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).ends_with("/no/such: no such folder\n"));
}

#[test]
fn a_full_disk_is_reported_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // A limit on the size of files stands for the disk; its signal would end the program before it could say anything.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' 25; ulimit -f 8; exec \"$0\" \"$@\"", SCRIPT]);
    command.env("MERINO_FETCH_FROM", format!("{}/good", server()));
    assert_refused(run(&mut command, folder.path(), &["--accept-unverified", "quiet-labeled"]), "quiet-labeled.epd: ");
}

#[test]
fn missing_download_tools_are_named() {
    let tools = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let place = |names: &[&str]| {
        for name in names {
            let mut found = std::env::split_paths(&path).map(|folder| folder.join(name));
            let found = found.find(|path| path.is_file()).unwrap_or_else(|| panic!("no {name}"));
            std::os::unix::fs::symlink(found, tools.path().join(name)).unwrap();
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let fetch = || {
        let mut command = Command::new("/bin/sh");
        command.arg(SCRIPT).env("PATH", tools.path());
        run(&mut command, folder.path(), &["--accept-unverified", "quiet-labeled"])
    };
    place(&["dirname", "cat"]);
    assert_refused(fetch(), "neither sha256sum nor shasum");
    let sum = if Path::new("/usr/bin/sha256sum").is_file() { "sha256sum" } else { "shasum" };
    place(&[sum]);
    assert_refused(fetch(), "neither curl nor wget");
}

#[test]
fn sets_are_listed() {
    let output = Command::new(SCRIPT).arg("--list").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("quiet-labeled ") && text.contains("lichess-big3-resolved.7z"));
    // What the script has and what the page tells are the same.
    let page = fs::read_to_string(Path::new(SCRIPT).with_file_name("README.md")).unwrap();
    for name in text.lines().filter(|line| !line.starts_with(' ')).map(|line| line.split(' ').next().unwrap()) {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}
