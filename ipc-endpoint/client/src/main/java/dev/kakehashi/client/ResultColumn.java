package dev.kakehashi.client;

/// A result column.
///
/// @param typeOid PostgreSQL's type OID
/// @param typeModifier PostgreSQL's atttypmod; -1: none
public record ResultColumn(String name, int typeOid, int typeModifier) {}
