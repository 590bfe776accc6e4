package dev.kakehashi.engine.catalog;

/// A setting as SHOW gives it.
///
/// @param value as it would be written in the configuration file
public record ShownSetting(String name, String value, String description) {}
