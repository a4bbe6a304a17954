# The three programs in a small image: docker build -t merino . && docker run --rm -v "$PWD:/work" merino tuner --help
FROM rust:1.95-slim-trixie AS build
WORKDIR /merino
COPY . .
# Any x86-64 or ARM processor; --build-arg CPU=x86-64-v3 is faster where that is what there is.
ARG CPU=generic
RUN RUSTFLAGS="-C target-cpu=$CPU" cargo build --profile dist --locked --bins

FROM debian:trixie-slim
COPY --from=build /merino/target/dist/merino /merino/target/dist/tuner /merino/target/dist/arena /usr/local/bin/
COPY --from=build /merino/params /usr/local/share/merino/params
COPY --from=build /merino/data/openings.epd.zst /usr/local/share/merino/
WORKDIR /work
CMD ["merino"]
