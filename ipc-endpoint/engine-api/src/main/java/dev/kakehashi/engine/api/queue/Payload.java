package dev.kakehashi.engine.api.queue;

/// Payload of a task.
///
/// @param json whether the bytes are a JSON text in UTF-8, in the engine's canonical form of jsonb; else any bytes
/// @param bytes owned by this record: nobody changes them
@SuppressWarnings("ArrayRecordComponent") // handed over, never compared
public record Payload(boolean json, byte[] bytes) {}
