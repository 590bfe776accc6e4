/// The cases of the conformance suite, as interfaces of JUnit 5: [dev.kakehashi.tck.EngineConformance] has them all.
///
/// Each case says by [NeedsCapability] which capabilities it needs. Where one is absent its refusal is looked at instead.
@NullMarked
package dev.kakehashi.tck.cases;

import org.jspecify.annotations.NullMarked;
