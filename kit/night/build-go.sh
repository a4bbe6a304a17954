#!/bin/sh
# build.sh PARAMS ENGINE [trace]: builds ENGINE in Go with the numbers of PARAMS; src/ stays as it is.
# `trace` builds the program that answers rows: the build tag `trace`.
set -e
rm -rf "$2.src"
cp -r src "$2.src"
cp "$1" "$2.src/evaluation.go"
cd "$2.src"
go build ${3:+-tags trace} -o "$2" .
rm -rf "$2.src"
