# How OpenBench builds the engine: make EXE=name [EVALFILE=parameters.toml]; make dist makes the archive of a release.
# For all else use cargo; see README.md.

EXE ?= merino

# The machine that builds is the machine that plays, but for a release. This replaces the flags of .cargo/config.toml.
ifneq ($(MAKECMDGOALS),dist)
export RUSTFLAGS ?= -C target-cpu=native
endif

# What OpenBench calls a network are the parameters to embed: an absolute path, or one from here. No function of make
# touches it, because they split paths at blanks.
ifneq ($(EVALFILE),)
export MERINO_PARAMS := $(EVALFILE)
endif

ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif

.PHONY: all
all:
	bash .ci/engine
	cp -f target/dist/merino$(SUFFIX) $(EXE:$(SUFFIX)=)$(SUFFIX)

.PHONY: dist
dist:
	bash .ci/dist $(NAME)
