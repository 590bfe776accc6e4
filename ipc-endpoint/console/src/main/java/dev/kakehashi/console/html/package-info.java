/// What pages are made of: markup, frames, tables, and the files that browsers fetch.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.console.html;
