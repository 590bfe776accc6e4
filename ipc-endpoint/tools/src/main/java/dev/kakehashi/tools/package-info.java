/// Command-line tools around an endpoint. See [Tools].
///
/// A command is a process: it has one session and one thread, unless its class says more, and it ends with the command. Nothing here is
/// loaded by the endpoint.
/// `Launch` begins, and must not refer to the library for arguments, because a start would pay for it. Commands know `client` and
/// `formats`, and neither engine nor server.
@NullMarked
package dev.kakehashi.tools;

import org.jspecify.annotations.NullMarked;
