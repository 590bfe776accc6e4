package dev.kakehashi.server.socket;

import java.nio.file.Path;

/// Where a running endpoint is asked, and whose it has to be.
///
/// @param directory its runtime directory
/// @param requiredPeer OS user, by name or number, that it has to run as; empty: our own
public record RuntimeLocation(Path directory, String requiredPeer) {}
