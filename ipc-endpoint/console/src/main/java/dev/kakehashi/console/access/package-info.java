/// Who uses the console, and what he has done.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.console.access;
