/// Versions of applications: loaded when they are used, drained and let go when they are not.
@NullMarked
package dev.kakehashi.applications.version;

import org.jspecify.annotations.NullMarked;
