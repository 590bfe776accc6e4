/// The interactive SQL shell: reads statements and backslash commands, runs them in a session, shows their results as psql does.
///
/// One thread runs a shell; `interrupt` comes from the signal's, and names for completion are read beside the prompt (`BesideWork`).
/// The way to the endpoint is a `Link`, over shared memory or HTTP, which one thread uses.
/// A start counts in milliseconds: what a short shell does not need is not loaded by it.
@NullMarked
package dev.kakehashi.tools.shell;

import org.jspecify.annotations.NullMarked;
