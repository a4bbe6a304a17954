#!/bin/sh
# build.sh PARAMS ENGINE [trace]: builds ENGINE in C or C++ with the numbers of PARAMS; src/ stays as it is.
# `trace` builds the program that answers rows. The Makefile takes EXE and FLAGS.
set -e
rm -rf "$2.src"
cp -r src "$2.src"
cp "$1" "$2.src/evaluate.c"
make -s -C "$2.src" EXE="$2" FLAGS="${3:+-DMERINO}"
rm -rf "$2.src"
