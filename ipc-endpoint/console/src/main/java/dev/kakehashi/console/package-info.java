/// The web console: pages for people who run and use the endpoint.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.console;
