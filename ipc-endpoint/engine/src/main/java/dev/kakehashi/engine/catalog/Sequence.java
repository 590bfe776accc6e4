package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.type.SequenceDefinition;

/// A sequence as of one version of the catalogue.
///
/// @param sequenceId number of the object
/// @param typeOid int2, int4 or int8
public record Sequence(
    String schema, String name, long sequenceId, int typeOid, SequenceDefinition definition) {}
