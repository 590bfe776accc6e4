/// Physical plans: what the SQL front hands to execution. Trees of immutable nodes with resolved tables, columns and types.
@NullMarked
package dev.kakehashi.engine.plan;

import org.jspecify.annotations.NullMarked;
