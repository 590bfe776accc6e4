package dev.kakehashi.engine.store.api;

/// Where readers in other processes find a table by an index.
///
/// @param tableCell offset in the store's memory
/// @param tableGeneration that the cell has
/// @param indexCell the same of the index
/// @param pageRows rows of a page
/// @param positions places in pages of the table's columns
/// @param missingNull whether each of these is null where a page has no place for it
/// @param dictionaryCells offsets of the cells of their shared values; 0: one has none
public record SharedIndex(
    long tableCell,
    long tableGeneration,
    long indexCell,
    long indexGeneration,
    int pageRows,
    int[] positions,
    boolean[] missingNull,
    long[] dictionaryCells) {}
