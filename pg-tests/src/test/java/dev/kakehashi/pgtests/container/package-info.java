/// PostgreSQL and the endpoint in containers of their own, with nothing in common but a volume in memory.
@NullMarked
package dev.kakehashi.pgtests.container;

import org.jspecify.annotations.NullMarked;
