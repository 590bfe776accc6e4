package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.type.SequenceDefinition;
import org.jspecify.annotations.Nullable;

/// A sequence as of one version of the catalogue.
///
/// @param sequenceId number of the object
/// @param typeOid int2, int4 or int8
/// @param comment what COMMENT said, or null
/// @param rights whose it is, and what was granted on it
public record Sequence(
    String schema,
    String name,
    long sequenceId,
    int typeOid,
    SequenceDefinition definition,
    @Nullable String comment,
    Rights rights) {
  /// The same sequence with other numbers.
  public Sequence with(int newTypeOid, SequenceDefinition numbers) {
    return new Sequence(schema, name, sequenceId, newTypeOid, numbers, comment, rights);
  }

  /// The same sequence under another name.
  public Sequence named(String newSchema, String newName) {
    return new Sequence(
        newSchema, newName, sequenceId, typeOid, definition.withName(newName), comment, rights);
  }

  public Sequence withComment(@Nullable String text) {
    return new Sequence(schema, name, sequenceId, typeOid, definition, text, rights);
  }

  /// The same sequence of another owner, or with other grants.
  public Sequence withRights(Rights newRights) {
    return new Sequence(schema, name, sequenceId, typeOid, definition, comment, newRights);
  }
}
