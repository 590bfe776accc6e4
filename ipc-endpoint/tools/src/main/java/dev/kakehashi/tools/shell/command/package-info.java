/// Backslash commands of the shell.
@NullMarked
package dev.kakehashi.tools.shell.command;

import org.jspecify.annotations.NullMarked;
