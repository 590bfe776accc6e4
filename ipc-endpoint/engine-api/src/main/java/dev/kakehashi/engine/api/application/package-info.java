/// Seam between the engine and native applications, users' own Java. The engine knows definitions, rights, versions, transactions and rows.
/// An implementation of [dev.kakehashi.engine.api.application.ApplicationSystem] knows jars, class loaders, records and threads.
///
/// Values cross this seam as objects, by the type of SQL; null is SQL's null:
///
/// | type | class |
/// |---|---|
/// | bool | [Boolean] |
/// | int2, int4, int8 | [Short], [Integer], [Long] |
/// | float4, float8 | [Float], [Double] |
/// | numeric | [java.math.BigDecimal] |
/// | text, varchar, bpchar | [String] |
/// | bytea | `byte[]` |
/// | date, time, timestamp, timestamptz | [java.time.LocalDate], [java.time.LocalTime], [java.time.LocalDateTime], [java.time.Instant] |
/// | interval | [java.time.Duration] |
/// | uuid | [java.util.UUID] |
/// | json, jsonb | [String], the text |
/// | an array of one of these | `Object[]` |
@NullMarked
package dev.kakehashi.engine.api.application;

import org.jspecify.annotations.NullMarked;
