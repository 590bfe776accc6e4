/// Tests of the web console: over HTTP, and in a browser.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.server.console;
