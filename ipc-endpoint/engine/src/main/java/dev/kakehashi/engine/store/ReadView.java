package dev.kakehashi.engine.store;

/// What a reader sees: everything committed up to `snapshot`, and the own transaction's changes made before statement
/// `statement`. Immutable; obtained from a [StoreTransaction], valid until that transaction ends.
///
/// @param snapshot commit timestamp
/// @param transactionId of the reader
/// @param statement number of the reading statement within its transaction
public record ReadView(long snapshot, long transactionId, int statement) {}
