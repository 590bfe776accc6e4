/// The pages, each made of statements over the engine's system tables.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.console.page;
