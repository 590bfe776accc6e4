/// The shell's way to an endpoint over HTTP.
@NullMarked
package dev.kakehashi.tools.shell.http;

import org.jspecify.annotations.NullMarked;
