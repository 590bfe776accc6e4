/// The shell's way to an endpoint over HTTP. Why it speaks HTTP itself: docs/decisions/0041.
///
/// A link has one connection and one request at a time, and is used by the shell's thread. A cancel comes from any thread, and closes the
/// connection.
@NullMarked
package dev.kakehashi.tools.shell.http;

import org.jspecify.annotations.NullMarked;
