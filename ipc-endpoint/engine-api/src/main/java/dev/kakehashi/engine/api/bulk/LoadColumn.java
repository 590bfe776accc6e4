package dev.kakehashi.engine.api.bulk;

import java.util.List;

/// A column that rows of a file can be loaded into, or a result's that is dumped.
///
/// @param typeOid PostgreSQL's
/// @param typeModifier PostgreSQL's atttypmod; -1: none
/// @param typeName as SQL writes it, with its modifier
/// @param nullable whether it may be null
/// @param labels of an enum in their order; empty: it is none
public record LoadColumn(
    String name,
    int typeOid,
    int typeModifier,
    String typeName,
    boolean nullable,
    List<String> labels) {}
