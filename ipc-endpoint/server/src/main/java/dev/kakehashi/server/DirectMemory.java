package dev.kakehashi.server;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.transport.endpoint.AttachedEngine;
import dev.kakehashi.transport.os.Credentials;
import dev.kakehashi.transport.os.Descriptors;
import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The engine as clients attach to it: those of the endpoint's own OS user, and of users that the operator names, get its memory for
/// reading, if it has any to share. Thread-safe.
final class DirectMemory implements AttachedEngine, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DirectMemory.class);

  private final Engine engine;
  private final List<String> users;
  private final int descriptor;

  private DirectMemory(Engine engine, List<String> users, int descriptor) {
    this.engine = engine;
    this.users = users;
    this.descriptor = descriptor;
  }

  /// @throws SettingsException the system does not let the memory be opened for reading alone
  static DirectMemory of(Engine engine, Settings settings) {
    int shared = engine.sharedMemory();
    try {
      return new DirectMemory(
          engine,
          settings.list(Setting.DIRECT_READ_USERS),
          shared < 0 ? NO_DESCRIPTOR : Descriptors.readOnly(shared));
    } catch (IOException e) {
      throw new SettingsException(
          "\"%s\": %s".formatted(Setting.DIRECT_READS.key(), e.getMessage()));
    }
  }

  @Override
  public Capabilities capabilities() {
    return engine.capabilities();
  }

  @Override
  public int memoryFor(int uid) {
    return descriptor != NO_DESCRIPTOR && isReader(uid) ? descriptor : NO_DESCRIPTOR;
  }

  private boolean isReader(int uid) {
    if (uid == Credentials.ownUid()) {
      return true;
    }
    try {
      return !users.isEmpty() && users.contains(Credentials.userName(uid));
    } catch (IOException e) {
      LOG.warn("could not find the name of OS user {}: its clients get no memory", uid, e);
      return false;
    }
  }

  @Override
  public void close() {
    if (descriptor != NO_DESCRIPTOR) {
      Descriptors.close(descriptor);
    }
  }
}
