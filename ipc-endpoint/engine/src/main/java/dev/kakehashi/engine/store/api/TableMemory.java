package dev.kakehashi.engine.store.api;

/// What a table has of the store's memory, in bytes. What was replaced or deleted and is kept for somebody is not in it.
///
/// @param pageBytes pages of rows
/// @param valueBytes values that lie outside of their row, as text does; of a table with many pages an estimate
/// @param indexBytes nodes of its indexes
public record TableMemory(long pageBytes, long valueBytes, long indexBytes) {}
