package dev.kakehashi.requests;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.messages.TransactionState;
import org.jspecify.annotations.Nullable;

/// How a request has ended.
///
/// @param state of the transaction that it named or began; NONE: there was none, or it has committed by itself
/// @param handle of that transaction; 0: none
/// @param leaseDeadlineNanos of it, by System.nanoTime(); 0: it has none
/// @param rows changed, or sent
/// @param failure why it has failed; null: it has not
public record RequestAnswer(
    TransactionState state,
    long handle,
    long leaseDeadlineNanos,
    long rows,
    @Nullable EngineException failure) {}
