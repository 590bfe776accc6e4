package dev.kakehashi.pgwire;

/// Limits of the engine. Immutable.
///
/// @param transactions open at the same time
/// @param rowBytes of the values that one row sends; 0: what the server takes
/// @param transactionBytes of the values that all changes of a transaction send; 0: no limit
public record EngineLimits(int transactions, long rowBytes, long transactionBytes) {}
