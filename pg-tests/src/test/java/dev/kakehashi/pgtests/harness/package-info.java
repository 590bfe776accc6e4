/// Starts and kills what the tests need: endpoints, PostgreSQL servers, psql sessions, each in directories of its own.
///
/// Nothing here is shared between test classes, so that a class may kill what it has started at any moment.
@NullMarked
package dev.kakehashi.pgtests.harness;

import org.jspecify.annotations.NullMarked;
