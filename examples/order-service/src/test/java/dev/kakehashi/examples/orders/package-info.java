/// The order service, deployed to an endpoint in the tests' JVM.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.examples.orders;
