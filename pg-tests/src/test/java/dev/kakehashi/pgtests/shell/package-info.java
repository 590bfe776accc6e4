/// The SQL shell beside psql.
@NullMarked
package dev.kakehashi.pgtests.shell;

import org.jspecify.annotations.NullMarked;
