package dev.kakehashi.application;

import org.jspecify.annotations.Nullable;

/// An aggregate. States are used by one thread at a time; several of one group are merged.
///
/// @param <A> argument: null arguments are passed over if the function is strict
/// @param <S> state
/// @param <R> result
public interface Aggregate<A, S, R> {
  S begin();

  /// Adds an argument.
  ///
  /// @return the state with it; usually the same object
  S add(S state, A argument);

  /// Puts two states together; neither is used after it.
  S merge(S state, S other);

  @Nullable R result(S state);
}
