/// Fixtures of the tests of several modules: private servers, a sink of results, free ports, waiting.
///
/// This is main code so that tests of other modules can use it. Nothing of it is shipped, and no main code may use it.
@NullMarked
package dev.kakehashi.testsupport;

import org.jspecify.annotations.NullMarked;
