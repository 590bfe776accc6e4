/// Locations, uploads, and files that get their names when they are whole.
///
/// `FileGate` alone opens files of locations, each step from a descriptor, so that what was checked is what is open. It is thread-safe.
/// A `FilePublication` belongs to one statement: all its files have their names, durably, or none has.
@NullMarked
package dev.kakehashi.bulk.file;

import org.jspecify.annotations.NullMarked;
