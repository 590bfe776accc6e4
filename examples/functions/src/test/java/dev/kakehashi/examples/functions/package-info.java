/// The functions, in statements of an endpoint in the tests' JVM.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.examples.functions;
