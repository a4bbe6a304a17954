#!/bin/sh
# build.sh PARAMS ENGINE [trace]: builds ENGINE in Rust with the numbers of PARAMS; src/ stays as it is.
# `trace` builds the program that answers rows: the feature `trace` of the package `engine`.
set -e
rm -rf "$2.src"
mkdir "$2.src"
cp -r Cargo.toml Cargo.lock src "$2.src"
cp "$1" "$2.src/src/params.rs"
cargo build --quiet --release --manifest-path "$2.src/Cargo.toml" --target-dir "$2.target" ${3:+--features trace}
cp "$2.target/release/engine" "$2"
rm -rf "$2.src"
