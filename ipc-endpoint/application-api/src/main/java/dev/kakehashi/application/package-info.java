/// Applications: users' own Java inside the endpoint, as functions, procedures, routes, handlers of queues, and processes.
///
/// An application is a class that implements [dev.kakehashi.application.Application] in a jar with
/// `META-INF/services/dev.kakehashi.application.Application`, or in a module that provides it. Records go in and come out.
///
/// Values of SQL are these types of Java:
///
/// | SQL | Java |
/// |---|---|
/// | boolean | `boolean`, `Boolean` |
/// | smallint, integer, bigint | `short`, `int`, `long` and their classes |
/// | real, double precision | `float`, `double` and their classes |
/// | numeric | `BigDecimal` |
/// | text, varchar, char | `String` |
/// | bytea | `byte[]` |
/// | date, time, timestamp | `LocalDate`, `LocalTime`, `LocalDateTime` |
/// | timestamptz | `Instant` |
/// | interval | `Duration` (days of 24 hours; one with months is refused) |
/// | uuid | `UUID` |
/// | jsonb | [dev.kakehashi.application.Json] |
/// | an array of one of these | an array of the class |
///
/// A component of a primitive type is never null. One of another type may be null.
@NullMarked
package dev.kakehashi.application;

import org.jspecify.annotations.NullMarked;
