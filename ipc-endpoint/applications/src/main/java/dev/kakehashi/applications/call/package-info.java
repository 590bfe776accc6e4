/// Calls of procedures, routes and handlers: threads, transactions, limits, and what users' code sees of them.
///
/// A `UserCall` has one thread; its picture of states says who may do what. Cancels come from any thread. `LiveCall`,
/// `PlatformTransactions` and `RowSink` are for the call's thread alone.
/// `HereCalls` runs short calls on the thread that has read their requests; that thread has given up its role before.
@NullMarked
package dev.kakehashi.applications.call;

import org.jspecify.annotations.NullMarked;
