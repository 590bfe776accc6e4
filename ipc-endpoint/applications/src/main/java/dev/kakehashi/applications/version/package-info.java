/// Versions of applications: loaded when they are used, drained and let go when they are not.
///
/// Statements, calls, handlers and definitions come on threads of their own, so what they share is thread-safe.
/// The code of a retired version is let go when nobody uses it; a statement that comes later loads it again (`LoadedVersion`).
@NullMarked
package dev.kakehashi.applications.version;

import org.jspecify.annotations.NullMarked;
