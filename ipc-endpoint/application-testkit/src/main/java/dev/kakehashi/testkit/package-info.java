/// A test kit for applications: [dev.kakehashi.testkit.KakehashiExtension] starts an endpoint in the JVM of a test, deploys the application
/// under test as a user would, and calls it.
///
/// The JVM needs the options of the endpoint: the README of this module has them.
@NullMarked
package dev.kakehashi.testkit;

import org.jspecify.annotations.NullMarked;
