#!/bin/sh
# build.sh PARAMS ENGINE [trace]: builds ENGINE in C# with the numbers of PARAMS; src/ stays as it is.
# `trace` builds the program that answers rows: with MERINO defined. The project is src/Engine.csproj.
set -e
rm -rf "$2.src" "$2.app"
cp -r src "$2.src"
cp "$1" "$2.src/Evaluation.cs"
dotnet publish --nologo --verbosity quiet --configuration Release --output "$2.app" ${3:+-p:DefineConstants=MERINO} \
    "$2.src/Engine.csproj"
printf '#!/bin/sh\nexec dotnet "%s" "$@"\n' "$2.app/Engine.dll" > "$2"
chmod +x "$2"
