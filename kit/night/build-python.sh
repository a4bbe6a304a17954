#!/bin/sh
# build.sh PARAMS ENGINE [trace]: ENGINE starts src/engine.py in Python with the numbers of PARAMS; src/ stays as it is.
# The same program plays, and answers rows as `ENGINE trace`.
set -e
rm -rf "$2.src"
cp -r src "$2.src"
cp "$1" "$2.src/evaluation.py"
printf '#!/bin/sh\nexec python3 "%s" "$@"\n' "$2.src/engine.py" > "$2"
chmod +x "$2"
