/// The interactive SQL shell: reads statements and backslash commands, runs them in a session, shows their results as psql does.
@NullMarked
package dev.kakehashi.tools.shell;

import org.jspecify.annotations.NullMarked;
