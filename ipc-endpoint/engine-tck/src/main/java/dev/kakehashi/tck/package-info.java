/// Duties of every engine behind `engine-api`: tests that are given an engine ([EngineUnderTest]).
///
/// A test class of an engine extends [EngineConformance]. Nothing here knows which engine it drives.
@NullMarked
package dev.kakehashi.tck;

import org.jspecify.annotations.NullMarked;
