package dev.kakehashi.engine.store.api;

/// Memory of a table, in bytes. Replaced and deleted versions that are kept for readers do not count.
///
/// @param pageBytes pages of rows
/// @param valueBytes values that lie outside of their row, as text does; of a table with many pages an estimate
/// @param indexBytes nodes of its indexes
public record TableMemory(long pageBytes, long valueBytes, long indexBytes) {}
