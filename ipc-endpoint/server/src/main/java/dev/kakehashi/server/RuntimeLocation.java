package dev.kakehashi.server;

import java.nio.file.Path;

/// Where a running endpoint is asked, and whose it has to be.
///
/// @param directory its runtime directory
/// @param requiredPeer OS user, by name or number, that it has to run as; empty: our own
record RuntimeLocation(Path directory, String requiredPeer) {}
