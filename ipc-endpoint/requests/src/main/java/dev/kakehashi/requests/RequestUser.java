package dev.kakehashi.requests;

/// As whom an interface has authenticated its client.
///
/// @param name role of the engine
/// @param isOperator whether it is who runs the endpoint
public record RequestUser(String name, boolean isOperator) {}
