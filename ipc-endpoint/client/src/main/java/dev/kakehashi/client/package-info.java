/// Java client of a local endpoint: sessions, transactions, prepared statements, results.
///
/// ```java
/// try (Session session = Session.attach(AttachOptions.of(runtimeDirectory))) {
///   PreparedStatement insert = session.prepare("INSERT INTO t VALUES ($1, $2)");
///   try (Transaction transaction = session.begin()) {
///     transaction.update(insert, insert.parameters().addRow(1L, "one"));
///     transaction.commit();
///   }
///   try (Rows rows = session.query(session.prepare("SELECT a, b FROM t"))) {
///     while (rows.next()) {
///       System.out.println(rows.getLong(0) + " " + rows.getString(1));
///     }
///   }
/// }
/// ```
///
/// A session is used by one thread at a time; only [dev.kakehashi.client.Rows#cancel()] may come from another. Every failure is an
/// [dev.kakehashi.client.EndpointException]. The JVM needs the options that `jvm.options` of the endpoint lists (Chronicle Queue opens
/// packages of the JDK).
@NullMarked
package dev.kakehashi.client;

import org.jspecify.annotations.NullMarked;
