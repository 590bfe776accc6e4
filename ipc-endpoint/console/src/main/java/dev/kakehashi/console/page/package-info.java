/// The pages, each made of statements over the engine's system tables.
///
/// A `ConsolePage` is shared by all requests and has no state. A `PageView` is one look by one visitor, on one thread.
/// A change is a `PageAction`: it needs the field `csrf`, and its row of the audit table is durable before it begins.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.console.page;
