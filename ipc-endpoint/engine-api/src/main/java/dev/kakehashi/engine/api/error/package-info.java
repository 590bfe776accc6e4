/// Failures of an engine: each has a code of the project's error table. Nothing here knows sessions, transactions or statements.
@NullMarked
package dev.kakehashi.engine.api.error;

import org.jspecify.annotations.NullMarked;
