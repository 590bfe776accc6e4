/// Users of the console, and the log of their actions.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.console.access;
