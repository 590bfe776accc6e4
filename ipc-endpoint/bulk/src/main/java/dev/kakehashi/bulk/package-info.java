/// Files of `COPY`: which may be opened, what a load reads and rejects, what a dump writes.
@NullMarked
package dev.kakehashi.bulk;

import org.jspecify.annotations.NullMarked;
